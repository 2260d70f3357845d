/// What a comparison as people expect it and a regular expression need: Foundation's tables of languages, which are
/// larger than all else together. They are in a module of their own, `FileDBLanguage`, which every app links with
/// FileDB, and which `filedb` does without; see Decisions/027.
package protocol LanguageRules: SendableMetatype {
  /// As the Finder sorts in the current locale: below 0 if `left` comes first, above 0 if `right` does.
  static func compare(_ left: String, _ right: String) -> Int

  /// - Throws: an error that says nothing, if `pattern` is not a regular expression.
  static func expression(_ pattern: String, ignoringCase: Bool) throws -> any TextExpression
}

/// A regular expression.
package protocol TextExpression: Sendable {
  /// Looks for it in `text`, in at most so many `steps`.
  func search(_ text: String, steps: Int) -> TextSearchOutcome
}

package enum TextSearchOutcome: Sendable {
  case found
  case missing
  case tooManySteps
}

package enum Language {
  /// The rules that are linked into this program, if any. They are found by name, so that nothing here links them.
  package static let rules = _typeByName("14FileDBLanguage15FoundationRulesO") as? any LanguageRules.Type

  /// The rules, for those who cannot do without.
  /// - Throws: ``StoreError/languageMissing``.
  package static func required() throws(StoreError) -> any LanguageRules.Type {
    guard let rules else {
      throw StoreError(
        StoreError.languageMissing, "this program is linked without the module FileDBLanguage")
    }
    return rules
  }
}

extension StoreError {
  /// Text cannot be sorted by a locale, or matched by a regular expression, in a program without `FileDBLanguage`.
  package static let languageMissing = Code(rawValue: "languageMissing")
}
