/// Creates samples from the Opus packets of a transport stream. Each packet contains access units, which follow small
/// headers with their size.
///
/// Source: "Opus in MPEG-2 TS" (the registration of `Opus` at SMPTE), §4.3 and §5; RFC 6716 §3.1; RFC 7845 §5.1.
struct OpusAssembler {
    private(set) var track: MediaTrack
    private var buffer: [UInt8] = []
    private var clock: SampleClock?

    private static let rate = 48_000
    /// Larger packets are cut off. No valid packet has more than 64 KiB.
    private static let maxByteCount = 1 << 17

    /// - Parameter channels: `channel_config_code`.
    init(pid: Int, channels: UInt8, language: String?) {
        let header = Self.header(channels)
        track = MediaTrack(
            id: pid, mediaType: .audio, codec: .opus, timescale: 90_000, configuration: header, sampleRate: Self.rate,
            channelCount: Int(header[9]), language: language, wrapsAt33Bits: true)
    }

    mutating func beginPacket(pts: Int64?, to sink: inout EventSink) {
        finish(to: &sink)
        if let pts { clock = SampleClock(start: pts, rate: Self.rate) }
    }

    mutating func append(_ bytes: Span<UInt8>) {
        guard buffer.count + bytes.count <= Self.maxByteCount else { return }
        bytes.withUnsafeBufferPointer { buffer.append(contentsOf: $0) }
    }

    mutating func finish(to sink: inout EventSink) {
        guard !buffer.isEmpty else { return }
        var at = 0
        while let unit = Self.unit(in: buffer, at: at) {
            emit(unit, to: &sink)
            at = unit.upperBound
        }
        if at < buffer.count { sink.note("PID \(track.id): \(buffer.count - at) bytes are not opus") }
        buffer.removeAll(keepingCapacity: true)
    }

    mutating func moveTimes(by distance: Int64) { clock?.move(by: distance) }

    private mutating func emit(_ unit: Range<Int>, to sink: inout EventSink) {
        let count = Self.sampleCount(buffer[unit])
        guard count > 0 else { return }
        guard let time = clock?.advance(by: count, rate: Self.rate) else {
            sink.note("PID \(track.id): a frame without a timestamp was skipped")
            return
        }
        sink.update(track)
        sink.emit(
            MediaSample(
                trackID: track.id, pts: time.pts, dts: time.pts, duration: time.duration, isSync: true,
                data: SampleData(buffer[unit])))
    }

    /// The range of the access unit whose control header is at `start`, or nil if it is missing or incomplete.
    private static func unit(in bytes: [UInt8], at start: Int) -> Range<Int>? {
        guard start + 3 <= bytes.count, bytes[start] == 0x7f, bytes[start + 1] & 0xe0 == 0xe0 else { return nil }
        let flags = bytes[start + 1]
        var at = start + 2
        var size = 0
        while true {
            guard at < bytes.count else { return nil }
            size += Int(bytes[at])
            at += 1
            if bytes[at - 1] < 0xff { break }
        }
        if flags & 0x10 != 0 { at += 2 }  // start trim
        if flags & 0x08 != 0 { at += 2 }  // end trim
        if flags & 0x04 != 0 {
            guard at < bytes.count else { return nil }
            at += 1 + Int(bytes[at])
        }
        guard size > 0, at + size <= bytes.count else { return nil }
        return at..<at + size
    }

    /// Samples per channel of a packet, at 48 kHz.
    private static func sampleCount(_ packet: ArraySlice<UInt8>) -> Int {
        guard let head = packet.first else { return 0 }
        let configuration = Int(head >> 3)
        let frame =
            switch configuration {
            case 0..<12: [480, 960, 1920, 2880][configuration & 3]
            case 12..<16: [480, 960][configuration & 1]
            default: [120, 240, 480, 960][configuration & 3]
            }
        switch head & 3 {
        case 0: return frame
        case 1, 2: return 2 * frame
        default: return packet.count > 1 ? frame * Int(packet[packet.startIndex + 1] & 0x3f) : 0
        }
    }

    /// The Opus header of Ogg, which decoders expect.
    private static func header(_ channels: UInt8) -> [UInt8] {
        let count = (1...8).contains(channels) ? channels : 2
        // Version, channels, pre-skip, 48 kHz, gain.
        var start = Array("OpusHead".utf8)
        start += [1, count, 0, 0, 0x80, 0xbb, 0, 0, 0, 0]
        if channels == 0 { return start + [255, 2, 0, 0, 1] }  // two languages
        guard count > 2 else { return start + [0] }
        let streams: [(streams: UInt8, coupled: UInt8, map: [UInt8])] = [
            (2, 1, [0, 2, 1]), (2, 2, [0, 1, 2, 3]), (3, 2, [0, 4, 1, 2, 3]), (4, 2, [0, 4, 1, 2, 3, 5]),
            (4, 3, [0, 4, 1, 2, 3, 5, 6]), (5, 3, [0, 6, 1, 2, 3, 4, 5, 7]),
        ]
        let layout = streams[Int(count) - 3]
        return start + [1, layout.streams, layout.coupled] + layout.map
    }
}
