import HLSKitMedia
import Testing

@Suite struct FragmentedMP4DemuxerTests {
    private typealias Writer = BoxWriter

    /// Returns a `moof` and its `mdat`. `offset` is the distance from the `moof` to the first media byte.
    private func segment(media: [UInt8], _ moof: (_ offset: Int) -> [UInt8]) -> [UInt8] {
        moof(moof(0).count + 8) + Writer.box("mdat", media)
    }

    @Test("a sample is output with its last byte and not later")
    func emission() throws {
        let section = try MP4InitializationSection(parsing: Writer.header()[...])
        var demuxer = FragmentedMP4Demuxer(initialization: section)
        let segment = Writer.fragment(sizes: [5, 3])
        var events: [DemuxerEvent] = []
        try demuxer.append(segment[..<(segment.count - 4)], to: &events)
        #expect(events.count == 1)  // the tracks
        try demuxer.append(segment[(segment.count - 4)..<(segment.count - 3)], to: &events)
        #expect(events.count == 2)
        try demuxer.append(segment[(segment.count - 3)...], to: &events)
        #expect(events.count == 3)
        try demuxer.finish(to: &events)
        #expect(events.count == 3)
    }

    @Test("a segment with its own moov needs no initialization section, and replaces one")
    func selfInitializing() throws {
        let segment = Writer.header([Writer.Track(id: 5)]) + Writer.fragment(id: 5, sizes: [2])
        let alone = Demuxed(segment, by: FragmentedMP4Demuxer(initialization: nil))
        #expect(alone.error == nil)
        #expect(alone.tracks.map { $0.map(\.id) } == [[5]])
        #expect(alone.samples.map(\.trackID) == [5])
        let replaced = try Demuxed(fragments: segment)
        #expect(replaced.tracks.map { $0.map(\.id) } == [[1], [5]])
        #expect(replaced.samples.map(\.trackID) == [5])
    }

    @Test("a moov equal to the initialization section announces nothing new")
    func repeatedMovie() throws {
        let demuxed = try Demuxed(fragments: Writer.header() + Writer.fragment(sizes: [2]))
        #expect(demuxed.tracks.count == 1)
        #expect(demuxed.samples.count == 1)
    }

    @Test("per-sample fields override the run, tfhd and trex")
    func defaults() throws {
        let header = Writer.header(defaults: Writer.Defaults(duration: 7, size: 2, flags: 0x10000))
        let fromHeader = segment(media: [1, 1, 2, 2]) { offset in
            Writer.moof(
                Writer.traf(Writer.tfhd(), Writer.tfdt(0), Writer.trun(flags: 1, count: 2, Writer.be32(offset))))
        }
        let fromFragment = segment(media: [1, 1, 1, 2, 2, 2]) { offset in
            Writer.moof(
                Writer.traf(
                    Writer.tfhd(flags: 0x20038, Writer.be32(9), Writer.be32(3), Writer.be32(0)), Writer.tfdt(14),
                    // First sample flags: not a sync sample.
                    Writer.trun(flags: 5, count: 2, Writer.be32(offset), Writer.be32(0x0101_0000))))
        }
        let fromSamples = segment(media: [1, 2, 2, 2]) { offset in
            Writer.moof(
                Writer.traf(
                    Writer.tfhd(), Writer.tfdt(32),
                    Writer.trun(
                        version: 1, flags: 0xF01, count: 2, Writer.be32(offset),
                        Writer.be32(4), Writer.be32(1), Writer.be32(0), Writer.be32(-3),
                        Writer.be32(6), Writer.be32(3), Writer.be32(0x10000), Writer.be32(5))))
        }
        let demuxed = try Demuxed(header: header, fragments: fromHeader + fromFragment + fromSamples)
        #expect(demuxed.error == nil)
        // The last fragment has a composition offset of -3, so its decoding times are 3 earlier.
        #expect(demuxed.samples.map(\.dts) == [0, 7, 14, 23, 29, 33])
        #expect(demuxed.samples.map(\.pts) == [0, 7, 14, 23, 29, 41])
        #expect(demuxed.samples.map(\.duration) == [7, 7, 9, 9, 4, 6])
        #expect(demuxed.samples.map(\.data.count) == [2, 2, 3, 3, 1, 3])
        #expect(demuxed.samples.map(\.isSync) == [false, false, false, true, true, false])
        #expect(demuxed.samples.last?.data.bytes == [2, 2, 2])
    }

    @Test("a dependent frame is not a sync sample, regardless of its sync flag; audio always is")
    func dependsOnOthers() throws {
        let defaults = Writer.Defaults(duration: 1, size: 1, flags: 0x0100_0000)
        let audio = Writer.Track(id: 2, handler: "soun", entries: [Writer.audioEntry("ac-3")])
        let bytes = segment(media: [1, 2]) { offset in
            Writer.moof(
                Writer.traf(Writer.tfhd(1), Writer.tfdt(0), Writer.trun(flags: 1, count: 1, Writer.be32(offset))),
                Writer.traf(Writer.tfhd(2), Writer.tfdt(0), Writer.trun(flags: 1, count: 1, Writer.be32(offset + 1))))
        }
        let demuxed = try Demuxed(header: Writer.header([Writer.Track(), audio], defaults: defaults), fragments: bytes)
        #expect(demuxed.samples.map(\.isSync) == [false, true])
    }

    @Test("runs of several tracks are output in byte order")
    func interleaving() throws {
        let header = Writer.header(
            [Writer.Track(id: 1), Writer.Track(id: 2)], defaults: Writer.Defaults(duration: 10, size: 2))
        let bytes = segment(media: [1, 1, 1, 1, 2, 2, 1, 1, 2, 2, 0, 0]) { offset in
            Writer.moof(
                Writer.traf(
                    Writer.tfhd(1), Writer.tfdt(100), Writer.trun(flags: 1, count: 2, Writer.be32(offset)),
                    Writer.trun(flags: 1, count: 1, Writer.be32(offset + 6))),
                Writer.traf(
                    Writer.tfhd(2), Writer.tfdt(200), Writer.trun(flags: 1, count: 1, Writer.be32(offset + 4)),
                    Writer.trun(flags: 1, count: 1, Writer.be32(offset + 8))))
        }
        let demuxed = try Demuxed(header: header, fragments: bytes)
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.map(\.trackID) == [1, 1, 2, 1, 2])
        #expect(demuxed.samples.map(\.dts) == [100, 110, 200, 120, 210])
        #expect(demuxed.samples.allSatisfy { sample in sample.data.bytes.allSatisfy { $0 == sample.trackID } })
    }

    @Test("without a data offset a run follows the previous one, also across tracks")
    func implicitOffsets() throws {
        let header = Writer.header(
            [Writer.Track(id: 1), Writer.Track(id: 2)], defaults: Writer.Defaults(duration: 10, size: 2))
        let bytes = segment(media: [1, 1, 1, 1, 2, 2]) { offset in
            Writer.moof(
                Writer.traf(
                    Writer.tfhd(1, flags: 0), Writer.tfdt(0), Writer.trun(flags: 1, count: 1, Writer.be32(offset)),
                    Writer.trun(flags: 0, count: 1)),
                Writer.traf(Writer.tfhd(2, flags: 0), Writer.tfdt(0), Writer.trun(flags: 0, count: 1)))
        }
        let demuxed = try Demuxed(header: header, fragments: bytes)
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.map(\.data.bytes) == [[1, 1], [1, 1], [2, 2]])
    }

    @Test("base data offsets of the original file are moved to the segment's media", arguments: [0, 1])
    func absoluteOffsets(segment number: Int) throws {
        let file = try MP4Fixture.bytes("avc-aac-absolute")
        let whole = MP4Fixture.demux(file, of: "avc-aac-absolute")
        var boxes: [(type: String, range: Range<Int>)] = []
        var offset = 0
        while offset < file.count {
            let size = file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            boxes.append((String(decoding: file[offset + 4..<offset + 8], as: UTF8.self), offset..<offset + size))
            offset += size
        }
        let starts = boxes.filter { $0.type == "moof" }.map(\.range.lowerBound)
        let headerEnd = try #require(starts.first)
        let start = try #require(starts.dropFirst(number).first)
        let end = try #require(starts.dropFirst(number + 1).first)
        let cut = try Demuxed(header: Array(file[..<headerEnd]), fragments: Array(file[start..<end]))
        #expect(cut.error == nil)
        #expect(cut.notes.count == 1)
        let frames = cut.samples.map { Demuxed.crc32($0.data) }
        #expect(!frames.isEmpty)
        let first = try #require(whole.samples.firstIndex { Demuxed.crc32($0.data) == frames[0] })
        #expect(whole.samples[first...].prefix(frames.count).map { Demuxed.crc32($0.data) } == frames)
    }

    @Test("media before the fragment that describes it is kept for it")
    func mediaFirst() throws {
        let header = Writer.header(defaults: Writer.Defaults(duration: 10, size: 2))
        let media = Writer.box("mdat", [1, 1, 2, 2])
        let fragment = Writer.moof(
            Writer.traf(Writer.tfhd(), Writer.tfdt(0), Writer.trun(flags: 1, count: 2, Writer.be32(8 - media.count))))
        let demuxed = try Demuxed(header: header, fragments: media + fragment)
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.map(\.data.bytes) == [[1, 1], [2, 2]])
    }

    @Test("an mdat of size 0 extends to the end, one of 64-bit size to its declared end")
    func sizes() throws {
        let header = Writer.header(defaults: Writer.Defaults(duration: 10, size: 2))
        func fragment(_ mdatHeader: [UInt8]) -> [UInt8] {
            func moof(_ offset: Int) -> [UInt8] {
                Writer.moof(
                    Writer.traf(Writer.tfhd(), Writer.tfdt(0), Writer.trun(flags: 1, count: 2, Writer.be32(offset))))
            }
            return moof(moof(0).count + mdatHeader.count) + mdatHeader + [1, 1, 2, 2]
        }
        let long = fragment(Writer.be32(1) + Array("mdat".utf8) + Writer.be64(20))
        let open = fragment(Writer.be32(0) + Array("mdat".utf8))
        let demuxed = try Demuxed(header: header, fragments: long + open)
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.map(\.data.bytes) == [[1, 1], [2, 2], [1, 1], [2, 2]])
    }

    @Test("unknown boxes of any size are skipped")
    func unknownBoxes() throws {
        let unknown =
            Writer.box("styp", Writer.zeros(8)) + Writer.box("prft", Writer.zeros(16))
            + Writer.box("abcd", Writer.zeros(5000)) + Writer.box("free")
        let demuxed = try Demuxed(fragments: unknown + Writer.fragment(sizes: [3]) + unknown)
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.count == 1)
    }

    @Test("without tfdt time continues from the previous fragment, or from 0 with a note")
    func missingDecodeTime() throws {
        let bytes = segment(media: [1, 2]) { offset in
            Writer.moof(
                Writer.traf(
                    Writer.tfhd(),
                    Writer.trun(
                        flags: 0x301, count: 2, Writer.be32(offset), [10, 1, 20, 1].flatMap { Writer.be32($0) })))
        }
        let demuxed = try Demuxed(fragments: bytes + bytes)
        #expect(demuxed.samples.map(\.dts) == [0, 10, 30, 40])
        #expect(demuxed.notes.count == 1)
    }

    @Test("a decode time may be negative, as encoder delays are written", arguments: [-1024, -1, -1 << 40])
    func negativeDecodeTime(time: Int) throws {
        let demuxed = try Demuxed(fragments: Writer.fragment(time: time, sizes: [1, 1]))
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.map(\.dts) == [Int64(time), Int64(time) + 10])
    }

    @Test(
        "the last second of a decode time of 32 bits is negative",
        arguments: [(-1, -1), (-999, -999), (-1001, (1 << 32) - 1001), (5000, 5000)] as [(Int, Int64)])
    func shortNegativeDecodeTime(time: Int, expected: Int64) throws {
        let demuxed = try Demuxed(fragments: Writer.fragment(time: time, sizes: [1], isShort: true))
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.map(\.dts) == [expected])
    }

    /// An edit list in movie units of 1/600 s on a track of 1/1000 s, and the shift of the timestamps that it causes.
    struct Edit: CustomTestStringConvertible {
        var name: String
        var edits: [UInt8]
        var shift: Int64
        var testDescription: String { name }
    }

    static let edits: [Edit] = [
        Edit(name: "none", edits: [], shift: 0),
        Edit(name: "media time 80: shown 80 earlier", edits: BoxWriter.elst((0, 80)), shift: -80),
        Edit(name: "an empty edit of 0.5 s: shown 500 later", edits: BoxWriter.elst((300, -1), (0, 0)), shift: 500),
        Edit(name: "both", edits: BoxWriter.elst((300, -1), (0, 80)), shift: 420),
        Edit(name: "to the nearest unit", edits: BoxWriter.elst((1, -1), (0, 2)), shift: 0),
        Edit(name: "later edits are not applied", edits: BoxWriter.elst((0, 80), (100, 500)), shift: -80),
    ]

    @Test("the first edit moves presentation and decoding times", arguments: edits)
    func editList(_ edit: Edit) throws {
        let header = Writer.moov([Writer.Track(edits: edit.edits)], movieTimescale: 600)
        let demuxed = try Demuxed(header: header, fragments: Writer.fragment(time: 1000, sizes: [1, 1]))
        #expect(demuxed.samples.map(\.pts) == [1000 + edit.shift, 1010 + edit.shift])
        #expect(demuxed.samples.map(\.dts) == [1000 + edit.shift, 1010 + edit.shift])
    }

    @Test(
        "Opus pre-skip applies to the first segment only, whatever the edit list says",
        arguments: edits)
    func preSkip(_ edit: Edit) throws {
        let entry = Writer.audioEntry("Opus", Writer.box("dOps", MP4InitializationSectionTests.dOps))
        let header = Writer.moov([Writer.Track(handler: "soun", entries: [entry], edits: edit.edits)])
        for (time, gapless) in [(0, GaplessInfo(leadingSampleCount: 312)), (960, nil)] as [(Int, GaplessInfo?)] {
            let fragments = Writer.fragment(time: time, sizes: [1, 1]) + Writer.fragment(time: time + 20, sizes: [1])
            let demuxed = try Demuxed(header: header, fragments: fragments)
            #expect(demuxed.samples.count == 3)
            #expect(demuxed.tracks.last?.first?.gapless == gapless)
            let first = demuxed.events.firstIndex { if case .sample = $0 { true } else { false } }
            let last = demuxed.events.lastIndex { if case .tracks = $0 { true } else { false } }
            #expect(try #require(last) < #require(first))
        }
    }

    @Test("another sample description announces the tracks again")
    func descriptionChange() throws {
        let track = Writer.Track(entries: [
            Writer.visualEntry("avc1", width: 64, Writer.box("avcC", [1])),
            Writer.visualEntry("hvc1", width: 128, Writer.box("hvcC", [2])),
        ])
        let header = Writer.header([track], defaults: Writer.Defaults(duration: 1, size: 1))
        func fragment(_ description: Int) -> [UInt8] {
            segment(media: [1]) { offset in
                Writer.moof(
                    Writer.traf(
                        Writer.tfhd(flags: 0x20002, Writer.be32(description)), Writer.tfdt(0),
                        Writer.trun(flags: 1, count: 1, Writer.be32(offset))))
            }
        }
        let demuxed = try Demuxed(header: header, fragments: fragment(1) + fragment(2) + fragment(2))
        #expect(demuxed.tracks.map { $0.map(\.codec) } == [[.h264], [.hevc]])
        #expect(demuxed.tracks.map { $0.map(\.width) } == [[64], [128]])
        #expect(demuxed.samples.count == 3)
        let wrong = try Demuxed(header: header, fragments: fragment(3))
        #expect(wrong.error?.code == .malformed)
    }

    @Test("a fragment of unknown tracks only is an error; some unknown tracks are a note")
    func unknownTracks() throws {
        let alone = try Demuxed(fragments: Writer.fragment(id: 9, sizes: [1]))
        #expect(alone.error?.code == .malformed)
        let bytes = segment(media: [1, 2]) { offset in
            Writer.moof(
                Writer.traf(
                    Writer.tfhd(9), Writer.trun(flags: 0x201, count: 1, Writer.be32(offset), Writer.be32(1))),
                Writer.traf(
                    Writer.tfhd(1), Writer.tfdt(0),
                    Writer.trun(flags: 0x201, count: 1, Writer.be32(offset + 1), Writer.be32(1))))
        }
        let mixed = try Demuxed(fragments: bytes)
        #expect(mixed.error == nil)
        #expect(mixed.notes.count == 1)
        #expect(mixed.samples.map(\.data.bytes) == [[2]])
    }

    @Test("samples without bytes are not output, but their time passes")
    func emptySamples() throws {
        let demuxed = try Demuxed(fragments: Writer.fragment(sizes: [0, 2, 0, 0, 3, 0]))
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.map(\.dts) == [10, 40])
        #expect(demuxed.samples.map(\.data.count) == [2, 3])
    }

    struct Malformed: CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        var code: MediaError.Code
        var sampleCount = 0
        var testDescription: String { name }
    }

    private static func fragment(_ boxes: [UInt8]..., media: [UInt8] = [1, 2, 3, 4]) -> [UInt8] {
        BoxWriter.moof(BoxWriter.traf(boxes.flatMap { $0 })) + BoxWriter.box("mdat", media)
    }

    private static let huge = 0xFFFF_FFFF

    static let malformed: [Malformed] = [
        Malformed(name: "nothing", bytes: [], code: .truncated),
        Malformed(name: "text", bytes: Array("<html><body>404</body></html>".utf8), code: .unknownContainer),
        Malformed(
            name: "a box of 2^63 bytes", bytes: [0, 0, 0, 1] + Array("moof".utf8) + [0x80] + BoxWriter.zeros(7),
            code: .malformed),
        Malformed(name: "a moof of 4 GiB", bytes: BoxWriter.be32(huge) + Array("moof".utf8), code: .limitExceeded),
        Malformed(name: "a moof to the end", bytes: BoxWriter.be32(0) + Array("moof".utf8), code: .limitExceeded),
        Malformed(name: "a box of 7 bytes", bytes: BoxWriter.be32(7) + Array("moof".utf8), code: .malformed),
        Malformed(
            name: "a table of 2^32 samples that is not there",
            bytes: fragment(BoxWriter.tfhd(), BoxWriter.trun(flags: 0x301, count: huge, BoxWriter.be32(0))),
            code: .malformed),
        Malformed(
            name: "2^32 samples of one byte without a table: as many as there are bytes",
            bytes: {
                func moof(_ offset: Int) -> [UInt8] {
                    BoxWriter.moof(
                        BoxWriter.traf(
                            BoxWriter.tfhd(flags: 0x20010, BoxWriter.be32(1)), BoxWriter.tfdt(0),
                            BoxWriter.trun(flags: 1, count: huge, BoxWriter.be32(offset))))
                }
                return moof(moof(0).count + 8) + BoxWriter.box("mdat", [1, 2, 3, 4])
            }(), code: .truncated, sampleCount: 4),
        Malformed(
            name: "2^32 samples of 4 GiB",
            bytes: fragment(
                BoxWriter.tfhd(flags: 0x20018, BoxWriter.be32(huge), BoxWriter.be32(huge)),
                BoxWriter.trun(flags: 0, count: huge)), code: .malformed),
        Malformed(
            name: "a sample of 65 MiB",
            bytes: fragment(
                BoxWriter.tfhd(flags: 0x20010, BoxWriter.be32(65 << 20)), BoxWriter.trun(flags: 0, count: 1)),
            code: .limitExceeded),
        Malformed(
            name: "a sample longer than mdat",
            bytes: Array(BoxWriter.fragment(sizes: [4, 9]).dropLast(9)).withMediaSize(8 + 4 + 3) + [1, 1, 1],
            code: .malformed, sampleCount: 1),
        Malformed(
            name: "a decode time of 2^63",
            bytes: fragment(BoxWriter.tfhd(), BoxWriter.fullBox("tfdt", version: 1, [0x80] + BoxWriter.zeros(7))),
            code: .malformed),
        Malformed(
            name: "a base data offset of 2^64",
            bytes: fragment(
                BoxWriter.tfhd(flags: 1, BoxWriter.be64(-1)), BoxWriter.trun(flags: 0x200, count: 1, BoxWriter.be32(1))),
            code: .malformed),
        Malformed(
            name: "a run before the segment",
            bytes: fragment(
                BoxWriter.tfhd(), BoxWriter.tfdt(0),
                BoxWriter.trun(flags: 0x201, count: 1, BoxWriter.be32(-1), BoxWriter.be32(1))), code: .malformed),
        Malformed(
            name: "a run within the moof",
            bytes: fragment(
                BoxWriter.tfhd(), BoxWriter.tfdt(0),
                BoxWriter.trun(flags: 0x201, count: 1, BoxWriter.be32(10), BoxWriter.be32(1))), code: .malformed),
        Malformed(
            name: "two runs at one place",
            bytes: fragment(
                BoxWriter.tfhd(), BoxWriter.tfdt(0),
                BoxWriter.trun(flags: 0x201, count: 1, BoxWriter.be32(124), BoxWriter.be32(2)),
                BoxWriter.trun(flags: 0x201, count: 1, BoxWriter.be32(124), BoxWriter.be32(2))),
            code: .malformed, sampleCount: 1),
        Malformed(
            name: "70 000 runs",
            bytes: fragment(
                BoxWriter.tfhd(flags: 0x20010, BoxWriter.be32(1)), BoxWriter.tfdt(0),
                Array(repeating: BoxWriter.trun(flags: 0, count: 1), count: 70_000).flatMap { $0 }),
            code: .limitExceeded),
        Malformed(name: "traf without tfhd", bytes: fragment(BoxWriter.tfdt(0)), code: .malformed),
        Malformed(
            name: "a run behind all media",
            bytes: fragment(
                BoxWriter.tfhd(), BoxWriter.tfdt(0),
                BoxWriter.trun(flags: 0x201, count: 1, BoxWriter.be32(10_000), BoxWriter.be32(1))), code: .truncated),
    ]

    @Test(
        "a contradictory segment gives its complete samples, then an error with its position", arguments: malformed)
    func fails(_ malformed: Malformed) throws {
        let demuxed = try Demuxed(fragments: malformed.bytes)
        #expect(demuxed.error?.code == malformed.code, "\(demuxed.error.map(String.init(describing:)) ?? "no error")")
        #expect(demuxed.error?.byteOffset != nil)
        #expect(demuxed.samples.count == malformed.sampleCount)
    }

    @Test("white space after the last box is ignored", arguments: ["\n", "\r\n", " \t\r\n"])
    func lineEnd(text: String) throws {
        let bytes = segment(media: [1, 2, 3, 4]) { offset in
            Writer.moof(
                Writer.traf(
                    Writer.tfhd(), Writer.tfdt(0),
                    Writer.trun(flags: 0x201, count: 1, Writer.be32(offset), Writer.be32(4))))
        }
        for (end, isIgnored) in [(text, true), (text + "?", false)] {
            let demuxed = try Demuxed(fragments: bytes + Array(end.utf8))
            #expect(demuxed.samples.count == 1 && (demuxed.error == nil) == isIgnored)
        }
    }

    @Test("open fragments without media are refused")
    func openFragments() throws {
        let fragment = Writer.moof(
            Writer.traf(
                Writer.tfhd(), Writer.tfdt(0),
                Writer.trun(flags: 0x201, count: 1, Writer.be32(1 << 30), Writer.be32(1))))
        let many = try Demuxed(fragments: Array(repeating: fragment, count: 65).flatMap { $0 })
        #expect(many.error?.code == .limitExceeded)
        let some = try Demuxed(fragments: Array(repeating: fragment, count: 64).flatMap { $0 })
        #expect(some.error?.code == .truncated)
    }

    @Test("tiny samples are dropped if there are very many; large ones never are")
    func tinySamples() throws {
        let count = 200_000
        let bytes = segment(media: [UInt8](repeating: 7, count: count + 64)) { offset in
            Writer.moof(
                Writer.traf(
                    Writer.tfhd(flags: 0x20010, Writer.be32(1)), Writer.tfdt(0),
                    Writer.trun(flags: 1, count: count, Writer.be32(offset))),
                Writer.traf(
                    Writer.tfhd(), Writer.tfdt(0),
                    Writer.trun(flags: 0x201, count: 1, Writer.be32(offset + count), Writer.be32(64))))
        }
        let demuxed = try Demuxed(fragments: bytes)
        #expect(demuxed.error == nil)
        #expect((100_000..<140_000).contains(demuxed.samples.count))
        #expect(demuxed.samples.last?.data.count == 64)
        #expect(demuxed.notes.count == 1)
    }

    @Test("many undescribed small mdat boxes cost no more than their bytes")
    func manyMediaBoxes() throws {
        let media = Array(repeating: Writer.box("mdat", [1]), count: 10_000).flatMap { $0 }
        let demuxed = try Demuxed(fragments: media + Writer.fragment(sizes: [2]))
        #expect(demuxed.error == nil)
        #expect(demuxed.samples.count == 1)
    }

    @Test("without an initialization section, the error names the missing part")
    func noInitialization() {
        let fragment = Demuxed(Writer.fragment(sizes: [1]), by: FragmentedMP4Demuxer(initialization: nil))
        #expect(fragment.error?.code == .missingInitializationSection)
        let media = Demuxed(Writer.box("mdat", [1]), by: FragmentedMP4Demuxer(initialization: nil))
        #expect(media.error?.code == .missingInitializationSection)
    }
}

extension [UInt8] {
    fileprivate func withMediaSize(_ size: Int) -> [UInt8] {
        var result = self
        let name = Array("mdat".utf8)
        for index in indices.dropLast(3) where Array(self[index..<index + 4]) == name {
            result.replaceSubrange(index - 4..<index, with: BoxWriter.be32(size))
        }
        return result
    }
}
