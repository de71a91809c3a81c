public import HLSMedia
public import HLSTime

/// A subtitle on the item's timeline.
public struct LegibleCue: Sendable, Hashable {
    /// When it is shown, in item time.
    public var timeRange: MediaTimeRange
    /// What is shown, without markup, lines separated by `\n`.
    public var text: String
    /// The same as its WebVTT file has it, with markup.
    public var payload: String
    /// The name that the file gives the cue; empty where there is none.
    public var identifier: String
    /// Where and how it is shown.
    public var settings: WebVTTCueSettings
    /// BCP 47 tag of the rendition; nil where undeclared.
    public var language: String?

    public init(
        timeRange: MediaTimeRange, text: String, payload: String, identifier: String = "",
        settings: WebVTTCueSettings = .init(), language: String? = nil
    ) {
        self.timeRange = timeRange
        self.text = text
        self.payload = payload
        self.identifier = identifier
        self.settings = settings
        self.language = language
    }
}
