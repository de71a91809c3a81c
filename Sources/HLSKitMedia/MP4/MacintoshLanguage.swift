/// The languages that QuickTime files declare by number instead of three packed letters.
///
/// Source: QuickTime File Format, "Language Code Values".
enum MacintoshLanguage {
    /// Returns the ISO 639-2 code, or `nil` for an unassigned number or a language without a code.
    static func tag(_ number: UInt16) -> String? {
        let index = Int(number)
        let tag =
            index < first.count
            ? first[index] : second.indices.contains(index - 128) ? second[index - 128] : ""
        return tag.isEmpty ? nil : tag
    }

    /// The numbers from 0.
    private static let first: [String] = [
        "eng", "fra", "deu", "ita", "nld", "swe", "spa", "dan", "por", "nor",
        "heb", "jpn", "ara", "fin", "ell", "isl", "mlt", "tur", "hrv", "zho",
        "urd", "hin", "tha", "kor", "lit", "pol", "hun", "est", "lav", "sme",
        "fao", "fas", "rus", "zho", "nld", "gle", "sqi", "ron", "ces", "slk",
        "slv", "yid", "srp", "mkd", "bul", "ukr", "bel", "uzb", "kaz", "aze",
        "aze", "hye", "kat", "ron", "kir", "tgk", "tuk", "mon", "mon", "pus",
        "kur", "kas", "snd", "bod", "nep", "san", "mar", "ben", "asm", "guj",
        "pan", "ori", "mal", "kan", "tam", "tel", "sin", "mya", "khm", "lao",
        "vie", "ind", "tgl", "msa", "msa", "amh", "tir", "orm", "som", "swa",
        "kin", "run", "nya", "mlg", "epo",
    ]

    /// The numbers from 128.
    private static let second: [String] = [
        "cym", "eus", "cat", "lat", "que", "grn", "aym", "tat", "uig", "dzo",
        "jav", "sun", "glg", "afr", "bre", "iku", "gla", "glv", "gle", "ton",
        "grc", "kal", "aze",
    ]
}
