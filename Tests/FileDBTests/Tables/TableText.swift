/// A table file with these lines as its records.
func tableText(counter: String = "9", records: [String], rest: String = "") -> String {
  """
  <?xml version="1.0" encoding="UTF-8"?>
  <plist version="1.0">
  <dict>
  <key>autoincrement</key><string>\(counter)</string>
  <key>data</key><array>
  \(records.joined(separator: "\n"))
  </array>\(rest)
  </dict>
  </plist>

  """
}

func record(_ id: String, _ fields: String = "") -> String {
  "<dict><key>wgFileDbSecretId</key><string>\(id)</string>\(fields)</dict>"
}
