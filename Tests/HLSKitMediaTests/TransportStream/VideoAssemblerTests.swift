import HLSKitMedia
import Testing

private let video = TransportStreamWriter.Stream(pid: 256, type: 0x1b)

private func demux(_ writer: TransportStreamWriter) -> DemuxerTrace {
    let trace = DemuxerTrace(TransportStreamDemuxer(), writer.bytes)
    #expect(DemuxerTrace(TransportStreamDemuxer(), writer.bytes, pieces: [1]) == trace)
    return trace
}

@Suite struct VideoAssemblerTests {
    private let idr = TinyVideo.unit(isIDR: true)
    private let other = TinyVideo.unit(isIDR: false, fill: 0xbb)

    @Test("packets without a length end at the next one, or at the end of the stream")
    func unbounded() {
        var writer = TransportStreamWriter(streams: [video])
        writer.add(.init(pid: 256, pts: 3000, dts: 0, payload: idr))
        writer.add(.init(pid: 256, pts: 6000, dts: 3000, payload: other))
        let trace = demux(writer)
        #expect(trace.samples.map(\.bytes) == [idr, other])
        #expect(trace.samples.map(\.isSync) == [true, false])
        #expect(trace.tracks.first?.width == 64 && trace.tracks.first?.height == 48)
    }

    @Test("a packet with a length is output at its end once packets begin with units")
    func bounded() throws {
        var writer = TransportStreamWriter(streams: [video])
        var ends: [Int] = []
        for index in 0..<3 {
            writer.add(.init(pid: 256, pts: Int64(index), payload: idr, hasLength: true))
            ends.append(writer.bytes.count)
        }
        var demuxer = TransportStreamDemuxer()
        var counts: [Int] = []
        for index in 0..<3 {
            var events: [DemuxerEvent] = []
            try demuxer.append(writer.bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]], to: &events)
            counts.append(events.count { if case .sample = $0 { true } else { false } })
        }
        #expect(counts == [0, 2, 1])
    }

    @Test("several access units in a packet are split; times come from the frame duration")
    func severalUnits() {
        var writer = TransportStreamWriter(streams: [video])
        writer.add(.init(pid: 256, pts: 6000, dts: 3000, payload: idr + other))
        writer.add(.init(pid: 256, pts: 12_000, dts: 9000, payload: idr + other + other))
        let trace = demux(writer)
        #expect(trace.samples.map(\.bytes) == [idr, other, idr, other, other])
        #expect(trace.samples.map(\.dts) == [3000, 3000, 9000, 12_000, 15_000])
    }

    @Test("units are separated by first slices if there are no delimiters")
    func noDelimiters() {
        let first =
            TinyVideo.parameterSets + TinyVideo.slice(isIDR: true) + TinyVideo.slice(isIDR: true, isFirst: false)
        let second = TinyVideo.slice(isIDR: false) + TinyVideo.slice(isIDR: false, isFirst: false)
        var writer = TransportStreamWriter(streams: [video])
        writer.add(.init(pid: 256, pts: 0, payload: first + second))
        writer.add(.init(pid: 256, pts: 6000, payload: second))
        #expect(demux(writer).samples.map(\.bytes) == [first, second, second])
    }

    @Test(
        "an access unit that spans packets is joined at any cut", arguments: [1, 5, 9, 30, 40, 41, 42, 43, 70])
    func divided(cut: Int) {
        for hasLength in [false, true] {
            let long = TinyVideo.unit(isIDR: true) + TinyVideo.slice(isIDR: true, isFirst: false)
            var writer = TransportStreamWriter(streams: [video])
            for index in 0..<3 {
                let pts = Int64(index) * 3000
                writer.add(.init(pid: 256, pts: pts, payload: Array(long.prefix(cut)), hasLength: hasLength))
                writer.add(.init(pid: 256, payload: Array(long.dropFirst(cut)), hasLength: hasLength))
            }
            let trace = demux(writer)
            #expect(trace.samples.map(\.bytes) == [long, long, long])
            #expect(trace.samples.map(\.pts) == [0, 3000, 6000])
            #expect(trace.notes.isEmpty)
        }
    }

    @Test("slices of one frame in separate packets are one access unit")
    func slicePackets() {
        var writer = TransportStreamWriter(streams: [video])
        for index in 0..<3 {
            writer.add(.init(pid: 256, pts: Int64(index) * 3000, payload: idr, hasLength: true))
            for _ in 0..<2 {
                writer.add(.init(pid: 256, payload: TinyVideo.slice(isIDR: true, isFirst: false), hasLength: true))
            }
        }
        let trace = demux(writer)
        #expect(trace.samples.count == 3)
        #expect(Set(trace.samples.map(\.data.count)) == [idr.count + 2 * 45])
    }

    @Test("a length that is too short or too long does not cut units", arguments: [-100, 50])
    func lyingLength(difference: Int) {
        let long = TinyVideo.unit(isIDR: true, count: 1000)
        var writer = TransportStreamWriter(streams: [video])
        for index in 0..<3 {
            writer.add(
                .init(pid: 256, pts: Int64(index), payload: long, declaredLength: 8 + long.count + difference))
        }
        let trace = demux(writer)
        #expect(trace.samples.prefix(2).map(\.bytes) == [long, long])
        #expect(trace.notes.count == 1)
    }

    @Test("recovery points and random access with I slices are sync samples, I slices alone are not")
    func sync() {
        let recovery: [UInt8] = [0, 0, 1, 0x06, 0x06, 0x01, 0xc4, 0x80]
        let intra = TinyVideo.delimiter + TinyVideo.parameterSets + TinyVideo.slice(isIDR: false)
        var writer = TransportStreamWriter(streams: [video])
        writer.add(.init(pid: 256, pts: 0, payload: idr))
        writer.add(.init(pid: 256, pts: 1, payload: TinyVideo.delimiter + recovery + TinyVideo.slice(isIDR: false)))
        writer.add(.init(pid: 256, pts: 2, payload: intra, isRandomAccess: true))
        writer.add(.init(pid: 256, pts: 3, payload: intra))
        writer.add(.init(pid: 256, pts: 4, payload: other, isRandomAccess: true))
        #expect(demux(writer).samples.map(\.isSync) == [true, true, true, false, false])
    }

    @Test("HEVC: IDR, BLA and CRA frames are sync samples; slices of other layers stay in their unit")
    func hevc() {
        func nal(_ type: UInt8, layer: UInt8 = 0, isFirst: Bool = true) -> [UInt8] {
            [0, 0, 0, 1, type << 1, layer << 3 | 1, isFirst ? 0x80 : 0] + [UInt8](repeating: 0xcc, count: 20)
        }
        let delimiter: [UInt8] = [0, 0, 0, 1, 35 << 1, 1, 0x50]
        var writer = TransportStreamWriter(streams: [.init(pid: 256, type: 0x24)])
        let units = [19, 21, 16, 1].map { delimiter + nal($0) + nal($0, layer: 1) + nal($0, isFirst: false) }
        for (index, unit) in units.enumerated() { writer.add(.init(pid: 256, pts: Int64(index), payload: unit)) }
        writer.add(.init(pid: 256, pts: 9, payload: nal(1) + nal(21)))
        let trace = demux(writer)
        #expect(trace.samples.map(\.isSync) == [true, true, true, false, false, true])
        #expect(trace.samples.prefix(4).map(\.bytes) == units)
    }

    @Test("messages before the first slice describe the grading of HDR video", arguments: [true, false])
    func grading(isHEVC: Bool) throws {
        func be(_ values: Int..., count: Int = 2) -> [UInt8] {
            values.flatMap { value in (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) } }
        }
        let display =
            be(8500, 39850, 6550, 2300, 35400, 14600, 15635, 16450) + be(10_000_000, 50, count: 4)
        let payload = [137, 24] + display + [144, 4] + be(1000, 400) + [0x80]
        let message = (isHEVC ? [39 << 1, 1] : [6]) + payload.withEmulationPrevention
        let slice =
            isHEVC
            ? [0, 0, 1, 19 << 1, 1, 0x80] + [UInt8](repeating: 0xcc, count: 20)
            : TinyVideo.parameterSets + TinyVideo.slice(isIDR: true)
        var writer = TransportStreamWriter(streams: [.init(pid: 256, type: isHEVC ? 0x24 : 0x1b)])
        writer.add(.init(pid: 256, pts: 0, payload: [0, 0, 1] + message + slice))
        let track = try #require(demux(writer).tracks.first)
        #expect(track.masteringDisplayColorVolume?.luminance == 0.005...1000)
        #expect(track.masteringDisplayColorVolume?.primaries?.red == .init(x: 0.708, y: 0.292))
        #expect(track.masteringDisplayColorVolume?.primaries?.whitePoint == .init(x: 0.3127, y: 0.329))
        #expect(
            track.contentLightLevelInfo
                == ContentLightLevelInfo(maximumContentLightLevel: 1000, maximumFrameAverageLightLevel: 400))
    }

    @Test("two fields of a frame in one packet are one sample; in separate packets they are two")
    func fields() {
        // 64 by 64. Frames may be coded as fields, and frame_num has four bits.
        let set: [UInt8] = [0, 0, 0, 1, 0x67, 0x4d, 0x00, 0x0a, 0xda, 0x11, 0x12]
        func field(_ isBottom: Bool, frame: UInt8, isIDR: Bool = false) -> [UInt8] {
            TinyVideo.delimiter + [0, 0, 1, isIDR ? 0x65 : 0x41, 0x88, 0x84 | frame << 3 | (isBottom ? 2 : 0)]
                + [UInt8](repeating: 0xaa, count: 30)
        }
        var writer = TransportStreamWriter(streams: [video])
        let first = set + field(false, frame: 0, isIDR: true) + field(true, frame: 0)
        writer.add(.init(pid: 256, pts: 0, payload: first))
        writer.add(.init(pid: 256, pts: 3600, payload: field(false, frame: 1) + field(true, frame: 1)))
        writer.add(.init(pid: 256, pts: 7200, payload: field(false, frame: 2)))
        writer.add(.init(pid: 256, pts: 9000, payload: field(true, frame: 2)))
        writer.add(.init(pid: 256, pts: 10_800, payload: field(false, frame: 3) + field(false, frame: 4)))
        let trace = demux(writer)
        #expect(trace.samples.prefix(4).map(\.pts) == [0, 3600, 7200, 9000])
        #expect(trace.samples.first?.bytes == first)
        #expect(trace.samples.map(\.isSync) == [true, false, false, false, false, false])
        #expect(trace.tracks.first?.height == 64)
    }

    @Test("K03: the closed captions of both fields of a frame are found", arguments: [nil, 4])
    func captionsOfFields(lengthSize: Int?) throws {
        let set: [UInt8] = [0, 0, 0, 1, 0x67, 0x4d, 0x00, 0x0a, 0xda, 0x11, 0x12]
        func message(_ kind: UInt8) -> [UInt8] {
            let data: [UInt8] = [0xb5, 0, 0x31, 0x47, 0x41, 0x39, 0x34, 3, 0x41, 0xff, 0xfc | kind, 0x94, 0x20, 0xff]
            return [6, 4, UInt8(data.count)] + data + [0x80]
        }
        func slice(_ isBottom: Bool) -> [UInt8] {
            [isBottom ? 0x41 : 0x65, 0x88, 0x84 | (isBottom ? 2 : 0)] + [UInt8](repeating: 0xaa, count: 30)
        }
        let units = [message(0), slice(false), message(1), slice(true)]
        var sample: MediaSample?
        var track = MediaTrack(id: 256, mediaType: .video, codec: .h264, timescale: 90_000)
        if lengthSize != nil {
            track.configuration = [1, 66, 0, 30, 0xff, 0xe0, 0]
            let bytes = units.flatMap { unit -> [UInt8] in [0, 0, 0, UInt8(unit.count)] + unit }
            sample = MediaSample(trackID: 256, pts: 0, dts: 0, isSync: true, data: SampleData(bytes))
        } else {
            var writer = TransportStreamWriter(streams: [video])
            let bytes = units.flatMap { unit -> [UInt8] in [0, 0, 1] + unit }
            writer.add(.init(pid: 256, pts: 0, payload: set + bytes))
            sample = demux(writer).samples.first
        }
        let data = ClosedCaptionData(sample: try #require(sample), track: track)
        #expect(data.pairs.map(\.kind) == [.field1, .field2])
    }

    @Test("colour and pixel aspect ratio come from the parameter set")
    func colour() {
        let hex = "6764002aacd940780227a9b0e6e020202800001f48000ea60078c18cb0".compactMap(\.hexDigitValue)
        let set = stride(from: 0, to: hex.count - 1, by: 2).map { UInt8(hex[$0] << 4 | hex[$0 + 1]) }
        var writer = TransportStreamWriter(streams: [video])
        writer.add(.init(pid: 256, pts: 0, payload: [0, 0, 0, 1] + set + TinyVideo.slice(isIDR: true)))
        let track = demux(writer).tracks.first
        #expect(track?.pixelAspectRatio == PixelAspectRatio(horizontalSpacing: 4, verticalSpacing: 3))
        #expect(
            track?.colorInformation
                == ColorInformation(
                    colorPrimaries: 1, transferCharacteristics: 1, matrixCoefficients: 1, isFullRange: true))
    }

    @Test("a new parameter set announces the new size before its frame")
    func newSize() {
        var writer = TransportStreamWriter(streams: [video])
        writer.add(.init(pid: 256, pts: 0, payload: idr))
        writer.add(
            .init(
                pid: 256, pts: 1,
                payload: TinyVideo.delimiter + TinyVideo.smallParameterSets + TinyVideo.slice(isIDR: true)))
        let lines = demux(writer).lines.map { $0.split(separator: " ").prefix(5).joined(separator: " ") }
        #expect(
            lines == [
                "track 256 video h264 64x48", "sample 256 pts 0 dts", "track 256 video h264 32x32",
                "sample 256 pts 1 dts",
            ])
    }

    @Test("the zero byte of a start code may be in the previous packet")
    func dividedStartCode() {
        var writer = TransportStreamWriter(streams: [video])
        writer.add(.init(pid: 256, pts: 0, payload: idr + [0]))
        writer.add(.init(pid: 256, pts: 3000, payload: Array(other.dropFirst()) + [0]))
        writer.add(.init(pid: 256, pts: 6000, payload: Array(other.dropFirst())))
        let trace = demux(writer)
        #expect(trace.samples.map(\.bytes) == [idr, other, other])
        #expect(trace.samples.map(\.pts) == [0, 3000, 6000])
    }

    @Test("frames before the first timestamp, and bytes without video, are dropped with a note")
    func omitted() {
        var writer = TransportStreamWriter(streams: [video])
        writer.add(.init(pid: 256, payload: other))
        writer.add(.init(pid: 256, pts: 3000, payload: idr))
        writer.add(.init(pid: 256, pts: 6000, payload: TinyVideo.delimiter))
        let trace = demux(writer)
        #expect(trace.samples.map(\.pts) == [3000])
        #expect(trace.notes.count == 2)
    }
}
