import HLSKitMedia

/// The parts of a header that libavformat cannot write.
///
/// They replace other bytes, so all sizes and offsets in the file stay valid.
struct HeaderAdditions {
    static let maximumByteCount = 1 << 20

    /// The extension of each E-AC-3 track in MP4.
    var extensions: [EnhancedAC3Extension?] = []
    /// The languages of tracks in MP4.
    var languages: Set<ExtendedLanguage> = []
    /// The languages of tracks in Matroska, with their ISO 639-2 codes.
    var matroskaLanguages: [(language: ExtendedLanguage, code: String)] = []
    /// The tracks in MP4 that are shown only if the user selects them. libavformat enables a text track.
    var disabledTrackIDs: Set<Int> = []

    var isEmpty: Bool {
        languages.isEmpty && matroskaLanguages.isEmpty && disabledTrackIDs.isEmpty
            && !extensions.contains { $0 != nil }
    }

    /// - Returns: The number of extensions that were found.
    func add(to header: inout [UInt8]) -> Int {
        for language in languages { language.addBoxes(to: &header) }
        for (language, code) in matroskaLanguages { language.addElements(code: code, to: &header) }
        if !disabledTrackIDs.isEmpty { MP4InitializationSection.disable(disabledTrackIDs, in: &header) }
        return extensions.isEmpty ? 0 : EnhancedAC3Extension.add(extensions, to: &header)
    }
}
