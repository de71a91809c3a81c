package import HLSKitCaptions
package import HLSKitMedia
public import HLSKitTime

/// A subtitle or closed caption on the item's timeline.
public struct LegibleCue: Sendable, Hashable {
    /// When it is shown, in item time.
    public var timeRange: MediaTimeRange
    /// The text, without markup, lines separated by `\n`.
    public var text: String
    /// The same with the markup of WebVTT, as the file has it; made of ``caption`` where the source is of another format.
    public var payload: String { didSet { styled = nil } }
    /// The name that the file gives the cue; empty if there is none.
    public var identifier: String
    /// Its position and layout.
    package var settings: WebVTTCueSettings { didSet { styled = nil } }
    /// BCP 47 tag of the rendition; nil if undeclared.
    public var language: String?
    /// What it looks like, where that is more than payload and settings say.
    package private(set) var styled: Caption?
    /// ``payload`` is what the stream has.
    package private(set) var isWebVTT = false

    /// Makes a cue in the default place, unless stated otherwise.
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

/// A cue that outputs know has changed: its end is known by now, or more of its text.
public struct CueChange: Sendable, Hashable {
    /// The cue as it came before.
    public var old: LegibleCue
    /// The cue as it is now.
    public var new: LegibleCue

    /// A change of `old` to `new`.
    package init(old: LegibleCue, new: LegibleCue) {
        self.old = old
        self.new = new
    }
}
