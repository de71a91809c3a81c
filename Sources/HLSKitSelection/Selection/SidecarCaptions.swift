public import HLSKitCaptions

/// Captions of the program's own that a user can choose as the subtitles of an item: those of a file beside the stream,
/// say.
///
/// ```swift
/// let file = try CaptionFileReader(format: .subRip).read(bytes)
/// item.sidecarCaptions = [SidecarCaptions(file.captions, name: "Deutsch", language: "de")]
/// ```
///
/// ``LegibleOutput/init(captions:language:advanceInterval:)`` shows captions whatever is chosen.
public struct SidecarCaptions: Sendable, Hashable {
    /// At times of the item, in any order. Those without a time are left out.
    package var captions: [Caption]
    /// For people. The option's ``MediaSelectionOption/displayName``.
    package var name: String
    /// BCP 47 tag; nil (the default) if it is not known.
    package var language: String?

    /// Makes captions that can be chosen.
    public init(_ captions: [Caption], name: String, language: String? = nil) {
        self.captions = captions
        self.name = name
        self.language = language
    }
}
