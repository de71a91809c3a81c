/// A timed event in the media itself: an ad marker, an ID3 tag or a message to the player.
///
/// In MP4 it is an `emsg` box. In a transport stream it is a section of splice information with the timestamp that
/// preceded it.
///
/// Source: ISO/IEC 23009-1 §5.10.3.3; SCTE 35 and SCTE 214-3 §7.3.2 (the scheme `urn:scte:scte35:2013:bin`).
public struct EventMessage: Sendable, Hashable {
    /// The time of the event, in units of ``EventMessage/timescale``.
    public enum Timing: Sendable, Hashable {
        /// The time from the earliest presentation time of the segment (version 0 of the box).
        case afterSegmentStart(UInt32)
        /// A time on the presentation timeline of the media (version 1).
        case presentationTime(UInt64)
    }

    /// The scheme of the message, for example `https://aomedia.org/emsg/ID3` or `urn:scte:scte35:2013:bin`.
    public var schemeIDURI: String
    /// The sub-type, defined by the scheme, which may be empty.
    public var value: String
    /// Messages with equal scheme, value and identifier are the same event.
    public var id: UInt32
    /// Units per second of timing and duration, above 0.
    public var timescale: UInt32
    /// The time of the event.
    public var timing: Timing
    /// The duration, or `nil` if unknown.
    public var duration: UInt32?
    /// The payload, in the scheme's own format.
    public var messageData: [UInt8]
    /// Whether ``Timing/presentationTime(_:)`` has 33 bits and wraps (transport streams).
    package var wrapsAt33Bits = false

    package init(
        schemeIDURI: String, value: String = "", id: UInt32 = 0, timescale: UInt32, timing: Timing,
        duration: UInt32? = nil, messageData: [UInt8] = [], wrapsAt33Bits: Bool = false
    ) {
        self.schemeIDURI = schemeIDURI
        self.value = value
        self.id = id
        self.timescale = timescale
        self.timing = timing
        self.duration = duration
        self.messageData = messageData
        self.wrapsAt33Bits = wrapsAt33Bits
    }
}

extension EventMessage {
    init?(parsing payload: BoxReader) throws(MediaError) {
        var reader = payload
        switch try reader.readVersionAndFlags().version {
        case 0:
            schemeIDURI = reader.readString()
            value = reader.readString()
            timescale = try reader.readUInt32()
            timing = .afterSegmentStart(try reader.readUInt32())
            duration = try reader.readUInt32()
            id = try reader.readUInt32()
        case 1:
            timescale = try reader.readUInt32()
            timing = .presentationTime(try reader.readUInt64())
            duration = try reader.readUInt32()
            id = try reader.readUInt32()
            schemeIDURI = reader.readString()
            value = reader.readString()
        default: return nil
        }
        guard timescale > 0 else { throw payload.malformed("'emsg' with a timescale of 0") }
        if duration == .max { duration = nil }
        messageData = Array(reader.rest)
    }
}
