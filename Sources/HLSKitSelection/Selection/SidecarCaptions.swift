public import HLSKitCaptions

/// Captions that your app supplies as a subtitle option of an item, for example from a sidecar file.
///
/// ```swift
/// let file = try CaptionFileReader(format: .subRip).read(bytes)
/// item.sidecarCaptions = [SidecarCaptions(file.captions, name: "Deutsch", language: "de")]
/// ```
///
/// ``LegibleOutput/init(captions:language:advanceInterval:)`` shows captions regardless of the selected option.
public struct SidecarCaptions: Sendable, Hashable {
    /// The captions at item times, in any order. Captions without a time are omitted.
    package var captions: [Caption]
    /// The name for the user, and the option's ``MediaSelectionOption/displayName``.
    package var name: String
    /// The BCP 47 language tag, or nil (the default) if it is not known.
    package var language: String?

    /// Creates selectable captions.
    public init(_ captions: [Caption], name: String, language: String? = nil) {
        self.captions = captions
        self.name = name
        self.language = language
    }
}
