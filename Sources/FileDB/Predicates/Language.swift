import FileDBTables

/// What locale-aware comparison and regular expressions need: Foundation's tables of languages, which are larger than
/// everything else together. They are used by a separate module, `FileDBLanguage`. Every app links it with FileDB, and
/// `filedb` does without it; see Decisions/027.
package protocol LanguageRules: SendableMetatype {
  /// Compares as the Finder sorts in the current locale: negative if `left` comes first, positive if `right` does.
  static func compare(_ left: String, _ right: String) -> Int

  /// - Throws: an error without details if `pattern` is not a regular expression.
  static func expression(_ pattern: String, ignoringCase: Bool) throws -> any TextExpression
}

/// A regular expression.
package protocol TextExpression: Sendable {
  /// Searches `text`, in at most `steps` steps.
  func search(_ text: String, steps: Int) -> TextSearchOutcome
}

package enum TextSearchOutcome: Sendable {
  case found
  case missing
  case tooManySteps
}

package enum Language {
  /// The rules that are linked into this program, if any. They are found by name, so that this module need not link
  /// them.
  package static let rules = _typeByName("14FileDBLanguage15FoundationRulesO") as? any LanguageRules.Type

  /// The rules, for operations that need them.
  /// - Throws: ``StoreError/Code/languageMissing``.
  package static func required() throws(StoreError) -> any LanguageRules.Type {
    guard let rules else {
      throw StoreError(
        .languageMissing, "this program is linked without the module FileDBLanguage")
    }
    return rules
  }
}

extension StoreError.Code {
  /// In a program without `FileDBLanguage`, text cannot be sorted by a locale or matched with a regular expression.
  package static let languageMissing = Self(rawValue: "languageMissing")
}
