package import HLSKitCaptions
package import HLSKitMedia
public import HLSKitTime

/// A subtitle or closed caption on the item's timeline.
public struct LegibleCue: Sendable, Hashable {
    /// The item times at which the cue is shown.
    public var timeRange: MediaTimeRange
    /// The text without markup.
    ///
    /// Line breaks are `\n`.
    public var text: String
    /// The text with WebVTT markup, converted from ``caption`` if the source has another format.
    public var payload: String { didSet { styled = nil } }
    /// The name of the cue in its file, or an empty string if it has none.
    public var identifier: String
    package var settings: WebVTTCueSettings { didSet { styled = nil } }
    /// The BCP 47 tag of the rendition, or `nil` if it is not declared.
    public var language: String?
    /// The appearance, if it goes beyond the payload and the settings.
    package private(set) var styled: Caption?
    /// Whether ``payload`` is the original text from the stream.
    package private(set) var isWebVTT = false

    package init(
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

    package init(
        timeRange: MediaTimeRange, text: String, payload: String, identifier: String, settings: WebVTTCueSettings,
        styled: Caption?, isWebVTT: Bool, language: String?
    ) {
        self.init(
            timeRange: timeRange, text: text, payload: payload, identifier: identifier, settings: settings,
            language: language)
        self.styled = styled
        self.isWebVTT = isWebVTT
    }

    package init(_ caption: Caption, language: String?) {
        let cue = WebVTTCaptions.cue(of: caption)
        self.init(
            timeRange: caption.timeRange, text: caption.text, payload: cue.payload, identifier: cue.identifier,
            settings: cue.settings, styled: caption, isWebVTT: false, language: language)
    }
}

/// A change of a delivered cue, whose end or additional text has become known.
public struct CueChange: Sendable, Hashable {
    /// The cue as delivered before.
    public var old: LegibleCue
    /// The cue as it is now.
    public var new: LegibleCue

    package init(old: LegibleCue, new: LegibleCue) {
        self.old = old
        self.new = new
    }
}
