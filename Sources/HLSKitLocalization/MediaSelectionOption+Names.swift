public import FoundationEssentials
import FoundationInternationalization
public import HLSKitCore

extension MediaSelectionOption {
    /// The ``extendedLanguageTag`` as a locale, or `nil` if it is not declared.
    public var locale: Locale? {
        extendedLanguageTag.map { Locale(identifier: LanguageTag.shortest($0)) }
    }

    /// Returns the name of the option in the language of `locale`.
    ///
    /// The name consists of the language's name and any further text of ``displayName``: `Englisch (Director's cut)`
    /// for `English - Director's cut`. If the option declares no language, or the language has no name, this returns
    /// ``displayName``.
    public func displayName(with locale: Locale) -> String {
        guard let own = self.locale, let name = LanguageNames.name(of: own, in: locale) else { return displayName }
        let rest = LanguageNames(of: own, in: locale).removed(from: displayName)
        return rest.isEmpty ? name : "\(name) (\(rest))"
    }
}

/// The names that a `NAME` attribute may use for a language: its own, the English and the reader's name, and its tag.
private struct LanguageNames {
    /// The names in lower case, the longest first.
    private let names: [String]

    init(of language: Locale, in reader: Locale) {
        let code = language.language.languageCode?.identifier
        let readers = [reader, language, Locale(identifier: "en")]
        let whole = readers.compactMap { Self.name(of: language, in: $0) }
        let short = code.map { code in readers.compactMap { $0.localizedString(forLanguageCode: code) } } ?? []
        let tags = [language.identifier(.bcp47), language.identifier, code].compactMap(\.self)
        names = Set((whole + short + tags).map { $0.lowercased() }).sorted { ($1.count, $0) < ($0.count, $1) }
    }

    /// Returns the name of a language with its script and region in the reader's language, or nil if it has none.
    static func name(of language: Locale, in reader: Locale) -> String? {
        let identifier = language.identifier
        guard let name = reader.localizedString(forIdentifier: identifier), !name.isEmpty,
            name.lowercased() != identifier.lowercased()
        else { return nil }
        return name
    }

    /// Removes the name of the language from the start of a text. Returns the text unchanged if it does not begin with
    /// the name as a word.
    func removed(from text: String) -> String {
        let lowercased = text.lowercased()
        // If lower case changes the length, offsets in the two texts do not correspond.
        guard lowercased.count == text.count,
            let name = names.first(where: { name in
                lowercased.hasPrefix(name) && !(lowercased.dropFirst(name.count).first?.isLetter ?? false)
            })
        else { return text }
        var rest = text.dropFirst(name.count)
        while let first = rest.first, !first.isLetter, !first.isNumber { rest = rest.dropFirst() }
        while let last = rest.last, last.isWhitespace || last == ")" || last == "]" { rest = rest.dropLast() }
        // The loop above has removed a closing parenthesis that belongs to the rest.
        if rest.contains("("), !rest.contains(")") { rest += ")" }
        return String(rest)
    }
}
