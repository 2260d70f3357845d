/// The lines on which the elements of an array begin, and the values in those that are dictionaries.
package struct PlistElementLines {
  private var elements: [(line: Int, firstField: Int)] = []
  /// The lines of all elements' fields, one element after another.
  private var fields: [(key: String, line: Int)] = []

  mutating func append(_ sighting: PlistSighting, line: Int) {
    switch sighting {
    case .value: elements.append((line, fields.count))
    case .field(let key): fields.append((key, line))
    }
  }

  /// - Returns: `nil` if there is no such element.
  package func line(ofElement index: Int) -> Int? {
    elements.indices.contains(index) ? elements[index].line : nil
  }

  /// - Returns: `nil` if there is no such element, or it does not hold the key.
  /// - Complexity: O(*k*) in the keys of the element.
  package func line(of key: String, inElement index: Int) -> Int? {
    guard elements.indices.contains(index) else { return nil }
    let end = index + 1 < elements.count ? elements[index + 1].firstField : fields.count
    return fields[elements[index].firstField..<end].first { compareUTF8($0.key, key) == 0 }?.line
  }
}
