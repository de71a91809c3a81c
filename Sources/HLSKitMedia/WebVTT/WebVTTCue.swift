/// One cue of a WebVTT file with the times in the file.
///
/// Source: WebVTT §3.1.
package struct WebVTTCue: Sendable, Hashable {
    /// The line above the timings, or empty if there is none.
    package var identifier: String
    /// The start on the file's own clock, to the millisecond.
    package var start: Duration
    /// The end on the file's own clock, to the millisecond. It is never before the start.
    package var end: Duration
    package var settings: WebVTTCueSettings
    /// The payload as written, with lines separated by `\n`.
    package var payload: String

    package init(
        identifier: String = "", start: Duration, end: Duration, settings: WebVTTCueSettings = .init(),
        payload: String
    ) {
        self.identifier = identifier
        self.start = start
        self.end = end
        self.settings = settings
        self.payload = payload
    }

    /// The payload without tags and with decoded character references. It is computed on each access.
    package var text: String { WebVTTText.plain(payload) }
}

/// A mapping between a WebVTT file's own clock and media timestamps (`X-TIMESTAMP-MAP`).
///
/// Source: RFC 8216 §3.5.
package struct WebVTTTimestampMap: Sendable, Hashable {
    package var local: Duration
    /// ``local`` as a 33-bit timestamp in units of 1/90 000 s.
    package var timestamp: Int64

    /// The defaults apply to a file without a map.
    package init(local: Duration = .zero, timestamp: Int64 = 0) {
        self.local = local
        self.timestamp = timestamp
    }
}

package struct WebVTTBlock: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case note
        case style
        case region
    }

    package var kind: Kind
    /// The text after the block's name, lines separated by `\n`.
    package var text: String

    package init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }
}
