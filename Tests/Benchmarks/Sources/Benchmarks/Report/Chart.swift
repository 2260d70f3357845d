struct Chart {
  let svg: String
  init(_ results: Results) { svg = "" }
}
