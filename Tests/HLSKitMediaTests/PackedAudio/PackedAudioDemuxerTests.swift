import HLSKitMedia
import Testing

private func demux(_ bytes: [UInt8]) -> DemuxerTrace {
    let trace = DemuxerTrace(PackedAudioDemuxer(), bytes)
    #expect(DemuxerTrace(PackedAudioDemuxer(), bytes, pieces: [1]) == trace)
    return trace
}

private func timestampTag(_ value: UInt64) -> [UInt8] {
    let content =
        Array("com.apple.streaming.transportStreamTimestamp".utf8) + [0]
        + (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * UInt64($0))) }
    return Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(content.count + 10)] + Array("PRIV".utf8)
        + [0, 0, 0, UInt8(content.count), 0, 0] + content
}

private let titleTag: [UInt8] =
    Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 14] + Array("TIT2".utf8) + [0, 0, 0, 4, 0, 0, 3, 65, 66, 67]

private let aac = (1...3).map { TinyAudio.frame(fill: UInt8($0)) }

@Suite struct PackedAudioDemuxerTests {
    @Test("the first frame has the tag's time, others follow; times are not reduced to 33 bits")
    func timestamp() {
        let wrap: Int64 = 1 << 33
        let trace = demux(timestampTag(UInt64(wrap - 1920)) + aac.joined())
        #expect(trace.samples.map(\.pts) == [wrap - 1920, wrap, wrap + 1920])
        #expect(trace.samples.map(\.duration) == [1920, 1920, 1920])
        #expect(trace.tracks.map(\.configuration) == [[0x11, 0x90]])
        #expect(trace.notes.isEmpty && trace.error == nil)
    }

    @Test("without a tag time begins at 0, with a note")
    func noTimestamp() {
        let trace = demux(Array(aac.joined()))
        #expect(trace.samples.map(\.pts) == [0, 1920, 3840])
        #expect(trace.notes.count == 1)
    }

    @Test("tags between frames, and initial tags with more than a timestamp, are metadata samples")
    func tags() {
        let trace = demux(timestampTag(900) + titleTag + aac[0] + titleTag + aac[1] + aac[2] + titleTag)
        #expect(trace.samples(of: 1).map(\.pts) == [900, 2820, 6660])
        #expect(trace.samples(of: 1).allSatisfy { $0.bytes == titleTag })
        #expect(trace.samples(of: 0).map(\.pts) == [900, 2820, 4740])
        #expect(trace.tracks.map(\.codec) == [.aac, .id3])
        #expect(trace.notes.isEmpty && trace.error == nil)
    }

    @Test("garbage between frames is skipped with a note", arguments: [1, 6, 7, 8, 100])
    func garbage(count: Int) {
        let junk = [UInt8](repeating: 0xff, count: count)
        let trace = demux(timestampTag(0) + aac[0] + junk + aac[1] + aac[2])
        #expect(trace.samples.map { $0.bytes.first } == [1, 2, 3])
        #expect(trace.notes.count == 1 && trace.notes[0].contains("\(count) bytes"))
    }

    @Test("tiny frames are dropped if there are very many; large ones never are")
    func tinyFrames() throws {
        let tiny = Array(repeating: TinyAudio.frame(count: 1, fill: 1), count: 150_000).flatMap { $0 }
        let bytes = timestampTag(0) + tiny + TinyAudio.frame(count: 100, fill: 2)
        var events: [DemuxerEvent] = []
        var demuxer = PackedAudioDemuxer()
        try demuxer.append(bytes[...], to: &events)
        try demuxer.finish(to: &events)
        let sizes = events.compactMap { event in if case .sample(let sample) = event { sample.data.count } else { nil }
        }
        #expect((100_000..<140_000).contains(sizes.count))
        #expect(sizes.last == 100)
        #expect(events.count { if case .note = $0 { true } else { false } } == 1)
    }

    @Test("a truncated frame is output as damaged, and the end is an error")
    func truncated() {
        let trace = demux(timestampTag(0) + aac[0] + aac[1].dropLast(5))
        #expect(trace.samples.map(\.isDamaged) == [false, true])
        #expect(trace.error?.code == .truncated)
    }

    @Test("dependent E-AC-3 substreams are in the sample of their frame")
    func substreams() {
        func frame(_ type: UInt8, _ id: UInt8, fill: UInt8) -> [UInt8] {
            [0x0b, 0x77, type << 6 | id << 3, 0x0f, 0x3f, 0x87, 0xc0, 0] + [UInt8](repeating: fill, count: 24)
        }
        let units = (1...4).map { frame(0, 0, fill: $0) + frame(1, 0, fill: $0) + frame(0, 1, fill: $0) }
        let trace = demux(timestampTag(0) + units.joined())
        #expect(trace.samples.map(\.bytes) == units)
        #expect(trace.samples.map(\.pts) == [0, 2880, 5760, 8640])
    }

    /// Returns an MPEG audio frame (128 kbit/s, 44.1 kHz, stereo) with `content` after its side information.
    private static func mpegFrame(_ content: [UInt8] = []) -> [UInt8] {
        let frame = [0xff, 0xfb, 0x90, 0x00] + [UInt8](repeating: 0, count: 32) + content
        return frame + [UInt8](repeating: 0, count: 417 - frame.count)
    }

    private static func information(
        _ name: String = "Info", flags: UInt8 = 15, frames: UInt32 = 100, encoder: String = "LAME3.100",
        delay: Int = 576, padding: Int = 1440
    ) -> [UInt8] {
        let table = [UInt8](repeating: 7, count: (flags & 2 != 0 ? 4 : 0) + (flags & 4 != 0 ? 100 : 0))
        let count = flags & 1 != 0 ? (0..<4).map { UInt8(truncatingIfNeeded: frames >> (24 - 8 * UInt32($0))) } : []
        let delays = delay << 12 | padding
        return Array(name.utf8) + [0, 0, 0, flags] + count + table + (flags & 8 != 0 ? [0, 0, 0, 0] : [])
            + Array(encoder.utf8) + [UInt8](repeating: 0, count: 12)
            + [16, 8, 0].map { UInt8(truncatingIfNeeded: delays >> $0) }
    }

    struct GaplessCase: CustomStringConvertible, Sendable {
        var description: String
        var table: [UInt8]
        var gapless: GaplessInfo?
    }

    @Test(
        "the encoder's table gives the amount of added audio",
        arguments: [
            GaplessCase(
                description: "LAME", table: information(),
                gapless: .init(leadingSampleCount: 1105, validSampleCount: 113_184, trailingSampleCount: 911)),
            GaplessCase(
                description: "Lavc, no seek table", table: information("Xing", flags: 1, encoder: "Lavc59.37"),
                gapless: .init(leadingSampleCount: 1105, validSampleCount: 113_184, trailingSampleCount: 911)),
            GaplessCase(
                description: "less padding than the decoder's delay", table: information(padding: 100),
                gapless: .init(leadingSampleCount: 1105, validSampleCount: 114_095, trailingSampleCount: 0)),
            GaplessCase(
                description: "no number of frames", table: information(flags: 14),
                gapless: .init(leadingSampleCount: 1105)),
            GaplessCase(
                description: "fewer frames than delay", table: information(frames: 1),
                gapless: .init(leadingSampleCount: 1105)),
            GaplessCase(description: "another encoder", table: information(encoder: "GOGO 3.13"), gapless: nil),
            GaplessCase(description: "cut short", table: Array(information().prefix(6)), gapless: nil),
        ])
    func gapless(_ test: GaplessCase) {
        let audio = Self.mpegFrame() + Self.mpegFrame()
        let trace = demux(timestampTag(0) + Self.mpegFrame(test.table) + audio)
        #expect(trace.tracks.first?.gapless == test.gapless)
        #expect(trace.samples.map(\.pts) == [2351, 4702])
        #expect(demux(timestampTag(0) + audio).tracks.first?.gapless == nil)
    }

    struct Refusal: CustomStringConvertible, Sendable {
        var description: String
        var bytes: [UInt8]
        var code: MediaError.Code
    }

    @Test(
        "other data than packed audio is an error",
        arguments: [
            Refusal(description: "nothing", bytes: [], code: .unknownContainer),
            Refusal(description: "text", bytes: Array("<html><body>".utf8), code: .unknownContainer),
            Refusal(
                description: "free format", bytes: [0xff, 0xfb, 0x02, 0x64] + [UInt8](repeating: 0, count: 400),
                code: .unknownContainer),
            Refusal(
                description: "a tag that lies", bytes: Array("ID3".utf8) + [4, 0, 0, 0x7f, 0x7f, 0x7f, 0x7f, 1, 2, 3],
                code: .limitExceeded),
        ])
    func refusals(_ test: Refusal) {
        #expect(demux(test.bytes).error?.code == test.code)
    }
}

@Suite struct ContainerProbeTests {
    struct Case: CustomStringConvertible, Sendable {
        var description: String
        var bytes: [UInt8]
        var container: ContainerProbe.Container

        init(_ description: String, _ bytes: [UInt8], _ container: ContainerProbe.Container) {
            self.description = description
            self.bytes = bytes
            self.container = container
        }
        init(_ text: String, _ container: ContainerProbe.Container) {
            self.init(text, Array(text.utf8), container)
        }
    }

    @Test(
        "J01, R57: the first bytes identify a resource, and a playlist is not media",
        arguments: [
            Case("one packet", [0x47] + [UInt8](repeating: 0, count: 187), .transportStream(packetStride: 188)),
            Case("box", [0, 0, 0, 24] + Array("styp".utf8) + [0, 0], .mp4),
            Case("another box", [0, 0, 0, 24] + Array("imda".utf8) + [0, 0], .mp4),
            Case("64-bit box", [0, 0, 0, 1] + Array("mdat".utf8) + [0, 0], .mp4),
            Case("tag", Array("ID3".utf8), .packedAudio),
            Case("WEBVTT", .webVTT), Case("WEBVTT\nX", .webVTT), Case("\u{feff}WEBVTT - title\n", .webVTT),
            Case("WEBVTTX", .unknown("text")),
            Case("#EXTM3U\n#EXT-X-VERSION:3\n", .unknown("a playlist")),
            Case("  \n<!DOCTYPE html><title>", .unknown("an HTML page")),
            Case("<?xml version=\"1.0\"?><html>", .unknown("an HTML page")),
            Case("<?xml version=\"1.0\"?><tt>", .unknown("an XML document")),
            Case("{\"error\":1}", .unknown("JSON")), Case("Not found", .unknown("text")), Case("", .unknown("empty")),
            Case("zeros", [UInt8](repeating: 0, count: 100), .unknown("zeros")),
            Case("noise", (0..<1000).map { UInt8($0 * $0 % 251) }, .unknown("unknown data (encrypted?)")),
            Case("gzip", [0x1f, 0x8b, 8, 0, 0, 0], .unknown("gzip data")),
            Case("AIFF", Array("FORM    AIFFCOMM".utf8), .unknown("AIFF")),
            Case("AIFF-C", Array("FORM    AIFCFVER".utf8), .unknown("AIFF")),
            Case("another form", Array("FORM    ILBM".utf8), .unknown("text")),
            Case("CAF", Array("caff".utf8) + [0, 1, 0, 0], .unknown("CAF")),
            Case(
                "packets behind garbage", [1, 2, 3] + (0..<600).map { $0 % 188 == 0 ? 0x47 : 0 },
                .transportStream(packetStride: 188)),
        ])
    func probe(_ test: Case) {
        #expect(ContainerProbe.identify(test.bytes[...], isComplete: true) == test.container)
        var probe = ContainerProbe()
        var answer: ContainerProbe.Container?
        for index in test.bytes.indices where answer == nil { answer = probe.append(test.bytes[index...index]) }
        #expect((answer ?? probe.finish()) == test.container)
    }
}
