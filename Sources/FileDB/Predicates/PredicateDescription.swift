import FileDBEssentials
import FileDBPlist

extension PredicateNode: CustomStringConvertible {
  var description: String {
    switch self {
    case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): comparison.description
    case .not(let node): "NOT " + node.part
    case .and(let nodes): nodes.map(\.part).joined(separator: " AND ")
    case .or(let nodes): nodes.map(\.part).joined(separator: " OR ")
    }
  }

  /// The text as a part of another predicate.
  private var part: String {
    switch self {
    case .and, .or: "(\(description))"
    case .constant, .comparison, .not: description
    }
  }
}

extension PredicateComparison: CustomStringConvertible {
  var description: String {
    if comparator == .isTrue { return left.description }
    let words = [left.description, comparator.rawValue + folding.modifiers, right.description]
    return ([quantifier?.rawValue].compactMap(\.self) + words).joined(separator: " ")
  }
}

extension TextFolding {
  fileprivate var modifiers: String {
    isEmpty ? "" : "[" + (contains(.letterCase) ? "c" : "") + (contains(.accents) ? "d" : "") + "]"
  }
}

extension PredicateOperand: CustomStringConvertible {
  var description: String {
    switch self {
    case .constant(let term): term.description
    case .path(let path): path.description
    case .list(let operands): "{" + operands.map(\.description).joined(separator: ", ") + "}"
    case .calculation(let calculation): calculation.description
    case .call(let call): call.description
    }
  }
}

extension PredicateTerm: CustomStringConvertible {
  var description: String {
    switch self {
    case .null: "NULL"
    case .value(let value): value.value.predicateLiteral
    case .list(let terms): "{" + terms.map(\.description).joined(separator: ", ") + "}"
    }
  }
}

extension PredicatePath: CustomStringConvertible {
  var description: String {
    let root =
      switch root {
      case .id: "id"
      case .recordID: "recordID"
      case .field(let name): ["id", "fields"].contains(name.text) ? "#" + name.text : name.predicateText
      }
    return root + steps.map(\.description).joined()
  }
}

extension PredicatePath.Step: CustomStringConvertible {
  var description: String {
    switch self {
    case .key(let name): ".\(name.predicateText)"
    case .element(let place): "[\(place)]"
    case .last: "[LAST]"
    case .count: ".@count"
    }
  }
}

extension FieldName {
  /// The name as it is written in a predicate.
  fileprivate var predicateText: String {
    let isWord =
      text.unicodeScalars.first.map { $0 == "_" || $0.properties.isXIDStart } ?? false
      && text.unicodeScalars.allSatisfy(\.properties.isXIDContinue)
    guard isWord else { return "#" + text.predicateLiteral }
    return PredicateKeyword(text) == nil ? text : "#" + text
  }
}

extension PlistValue {
  /// The value as it is written in a predicate. There are no constants for arrays and dictionaries.
  var predicateLiteral: String {
    switch self {
    case .string(let text): text.predicateLiteral
    case .integer, .unsigned: description
    case .real(let number): number.isFinite ? number.description : "REAL(\"\(PlistWriter.text(number))\")"
    case .bool(let value): value ? "TRUE" : "FALSE"
    case .date(let date): "DATE(\"\(PlistDate.text(date))\")"
    case .data(let data): "DATA(\"\(data.base64EncodedString())\")"
    case .array, .dict: description
    }
  }
}

extension String {
  fileprivate var predicateLiteral: String {
    var result = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case _ where scalar.properties.generalCategory == .control:
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
