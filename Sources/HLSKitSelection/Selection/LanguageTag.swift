import Glibc
import HLSKitLoading

package enum LanguageTag {
    /// Returns the available language for the first preference that has a match.
    ///
    /// A preference matches the same tag, then a less specific one (`en` for `en-GB`), then a more specific one
    /// (`en-US` for `en`).
    ///
    /// Source: RFC 4647 §3.4, with its reverse.
    package static func bestMatch(for preferences: [String], among available: [String]) -> String? {
        let forms = available.map(normalized)
        for preference in preferences {
            var wanted = normalized(preference)
            while !wanted.isEmpty {
                if let index = forms.firstIndex(of: wanted) { return available[index] }
                guard let dash = wanted.lastIndex(of: "-") else { break }
                wanted = String(wanted[..<dash])
            }
            if let index = forms.firstIndex(where: { $0.hasPrefix(wanted + "-") }) { return available[index] }
        }
        return nil
    }

    /// Returns the tag with the two-letter language code if there is one: `de` for `deu`.
    package static func shortest(_ tag: String) -> String {
        guard let language = tag.split(separator: "-", maxSplits: 1).first,
            let short = twoLetters[language.lowercased()]
        else { return tag }
        return short + tag.dropFirst(language.count)
    }

    /// Returns the preferred languages of the environment in order, or an empty array in the locale `C`.
    ///
    /// They are the entries of `LANGUAGE`, followed by the first nonempty value of `LC_ALL`, `LC_MESSAGES` and `LANG`.
    ///
    /// Source: POSIX XBD 8.2; GNU gettext, "The LANGUAGE variable".
    package static func preferred(by environment: (String) -> String?) -> [String] {
        let named = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty }
        // In the locale C, LANGUAGE is ignored.
        guard let main = named.flatMap(tag(ofLocale:)) else { return [] }
        let listed = (environment("LANGUAGE") ?? "").split(separator: ":").compactMap { tag(ofLocale: String($0)) }
        var seen: Set<String> = []
        return (listed + [main]).filter { seen.insert(normalized($0)).inserted }
    }

    /// Returns the languages for choosing audio: the app's languages, otherwise the environment's.
    ///
    /// The environment is only used with the clock of this machine, so that tests with other clocks do the same
    /// everywhere.
    package static func preferred(_ named: [String]?, by clock: some Clock<Duration>) -> [String] {
        if let named { return named }
        guard clock.isOfThisMachine else { return [] }
        return preferred { getenv($0).map { String(cString: $0) } }
    }

    /// Converts `de_AT.UTF-8@euro` to `de-AT`. Returns nil for `C`, `POSIX` and invalid names.
    private static func tag(ofLocale name: String) -> String? {
        let base = name.prefix { $0 != "." && $0 != "@" }
        guard base != "C", base != "POSIX", let first = base.first, first.isLetter,
            base.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") })
        else { return nil }
        return String(base.map { $0 == "_" ? "-" : $0 })
    }

    package static func matches(_ left: String, _ right: String) -> Bool { normalized(left) == normalized(right) }

    /// Returns the tag in lower case, with a two-letter language code if there is one.
    private static func normalized(_ tag: String) -> String {
        let parts = tag.lowercased().split(separator: "-", maxSplits: 1)
        guard let language = parts.first else { return "" }
        let short = twoLetters[String(language)] ?? String(language)
        return parts.count > 1 ? "\(short)-\(parts[1])" : short
    }

    /// A map from ISO 639-2 (terminology and bibliography) to ISO 639-1, for common languages of media.
    private static let twoLetters: [String: String] = [
        "afr": "af", "ara": "ar", "bel": "be", "ben": "bn", "bul": "bg", "cat": "ca", "ces": "cs", "cze": "cs",
        "chi": "zh", "cym": "cy", "wel": "cy", "dan": "da", "deu": "de", "ger": "de", "ell": "el", "gre": "el",
        "eng": "en", "est": "et", "eus": "eu", "baq": "eu", "fas": "fa", "per": "fa", "fin": "fi", "fra": "fr",
        "fre": "fr", "gle": "ga", "glg": "gl", "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "ind": "id",
        "isl": "is", "ice": "is", "ita": "it", "jpn": "ja", "kor": "ko", "lav": "lv", "lit": "lt", "msa": "ms",
        "may": "ms", "nld": "nl", "dut": "nl", "nob": "nb", "nno": "nn", "nor": "no", "pol": "pl", "por": "pt",
        "ron": "ro", "rum": "ro", "rus": "ru", "slk": "sk", "slo": "sk", "slv": "sl", "spa": "es", "srp": "sr",
        "swe": "sv", "tam": "ta", "tel": "te", "tha": "th", "tur": "tr", "ukr": "uk", "urd": "ur", "vie": "vi",
        "zho": "zh",
    ]
}
