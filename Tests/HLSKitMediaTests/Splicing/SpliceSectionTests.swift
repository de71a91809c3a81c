import HLSKitMedia
import HLSKitTime
import Testing

private struct SpliceWriter {
    private var bits: [UInt8] = []

    mutating func put(_ value: Int, _ count: Int) {
        for place in (0..<count).reversed() { bits.append(UInt8(value >> place & 1)) }
    }

    var bytes: [UInt8] {
        stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<min(start + 8, bits.count)].reduce(0) { $0 << 1 | $1 }
        }
    }

    static func bytes(_ fields: (Int, Int)...) -> [UInt8] {
        var writer = SpliceWriter()
        for (value, count) in fields { writer.put(value, count) }
        return writer.bytes
    }

    static func crc(_ bytes: [UInt8]) -> [UInt8] {
        var crc: UInt32 = 0xffff_ffff
        for byte in bytes {
            crc ^= UInt32(byte) << 24
            for _ in 0..<8 { crc = crc & 0x8000_0000 != 0 ? crc << 1 ^ 0x04c1_1db7 : crc << 1 }
        }
        return (0..<4).map { UInt8(truncatingIfNeeded: crc >> (24 - 8 * UInt32($0))) }
    }

    /// - Parameter length: The declared length of the command, or `nil` for its actual length.
    static func section(
        _ type: Int, _ command: [UInt8], adjustment: Int = 0, descriptors: [UInt8] = [], length: Int? = nil,
        isEncrypted: Bool = false, version: Int = 0
    ) -> [UInt8] {
        var head = SpliceWriter()
        for (value, count) in [
            (version, 8), (isEncrypted ? 1 : 0, 1), (0, 6), (adjustment, 33), (0, 8), (0xfff, 12),
            (length ?? command.count, 12), (type, 8),
        ] { head.put(value, count) }
        let rest = head.bytes + command + bytes((descriptors.count, 16)) + descriptors
        let section = bytes((0xfc, 8), (3, 4), (rest.count + 4, 12)) + rest
        return section + crc(section)
    }

    static func time(_ ticks: Int?) -> [(Int, Int)] {
        ticks.map { [(1, 1), (0x3f, 6), ($0, 33)] } ?? [(0, 1), (0x7f, 7)]
    }

    static func insert(
        _ id: Int, out: Bool, at ticks: Int?, immediate: Bool = false, duration: Int? = nil
    ) -> [UInt8] {
        var writer = SpliceWriter()
        func fields(_ list: [(Int, Int)]) { for (value, count) in list { writer.put(value, count) } }
        fields([(id, 32), (0, 1), (0x7f, 7)])
        fields([(out ? 1 : 0, 1), (1, 1), (duration == nil ? 0 : 1, 1), (immediate ? 1 : 0, 1), (0xf, 4)])
        if !immediate { fields(time(ticks)) }
        if let duration { fields([(1, 1), (0x3f, 6), (duration, 33)]) }
        fields([(7, 16), (2, 8), (3, 8)])
        return writer.bytes
    }

    static func timeSignal(_ ticks: Int?) -> [UInt8] {
        var writer = SpliceWriter()
        for (value, count) in time(ticks) { writer.put(value, count) }
        return writer.bytes
    }

    static func segmentation(
        _ id: Int, _ type: Int, duration: Int? = nil, upidType: Int = 0, upid: [UInt8] = [], components: Int = 0
    ) -> [UInt8] {
        var writer = SpliceWriter()
        for byte in "CUEI".utf8 { writer.put(Int(byte), 8) }
        for (value, count) in [(id, 32), (0, 1), (0x7f, 7)] { writer.put(value, count) }
        for (value, count) in [(components == 0 ? 1 : 0, 1), (duration == nil ? 0 : 1, 1), (0x3f, 6)] {
            writer.put(value, count)
        }
        if components > 0 {
            writer.put(components, 8)
            for index in 0..<components {
                for (value, count) in [(index, 8), (0, 7), (9, 33)] { writer.put(value, count) }
            }
        }
        if let duration { writer.put(duration, 40) }
        writer.put(upidType, 8)
        writer.put(upid.count, 8)
        for byte in upid { writer.put(Int(byte), 8) }
        for value in [type, 1, 2] { writer.put(value, 8) }
        return [2, UInt8(writer.bytes.count)] + writer.bytes
    }
}

@Suite("Splice information (SCTE 35)")
struct SpliceSectionTests {
    private typealias Writer = SpliceWriter

    private static func time(_ ticks: Int64) -> MediaTime { MediaTime(value: ticks, timescale: 90_000) }

    @Test("a splice_insert gives its event, direction, time and duration")
    func insert() throws {
        let out = try SpliceInformation(
            parsing: Writer.section(5, Writer.insert(0x4000_0001, out: true, at: 900_000, duration: 2_700_000)))
        #expect(out.commandType == .insert)
        #expect(out.spliceTime == Self.time(900_000))
        let insert = try #require(out.insert)
        #expect(insert.eventID == 0x4000_0001)
        #expect(insert.isOutOfNetwork && !insert.isImmediate && insert.returnsAutomatically && !insert.isCancelled)
        #expect(insert.breakDuration == Self.time(2_700_000))
        #expect([insert.programID, insert.availNumber, insert.availCount] == [7, 2, 3])
        #expect(out.hasValidChecksum)
        #expect(out.description == "splice_insert 1073741825 out, \(Self.time(2_700_000))")

        let back = try SpliceInformation(
            parsing: Writer.section(5, Writer.insert(9, out: false, at: nil, immediate: true)))
        #expect(back.spliceTime == nil)
        #expect(back.insert?.isOutOfNetwork == false)
        #expect(back.insert?.isImmediate == true)
        #expect(back.insert?.breakDuration == nil)
    }

    @Test("component times and cancellations are read")
    func components() throws {
        let two = Writer.bytes(
            (9, 32), (0, 1), (0x7f, 7), (1, 1), (0, 1), (0, 1), (0, 1), (0xf, 4), (2, 8), (1, 8), (1, 1), (0x3f, 6),
            (1000, 33), (2, 8), (0, 1), (0x7f, 7), (1, 16), (0, 8), (0, 8))
        #expect(try SpliceInformation(parsing: Writer.section(5, two)).spliceTime == Self.time(1000))
        let cancelled = try SpliceInformation(parsing: Writer.section(5, Writer.bytes((9, 32), (1, 1), (0x7f, 7))))
        #expect(cancelled.insert?.isCancelled == true)
        #expect(cancelled.description == "splice_insert 9 cancelled")
    }

    @Test("the adjustment is added to times, also across the clock's wrap")
    func adjustment() throws {
        let section = Writer.section(6, Writer.timeSignal((1 << 33) - 1), adjustment: 90_001)
        #expect(try SpliceInformation(parsing: section).spliceTime == Self.time(90_000))
        #expect(try SpliceInformation(parsing: Writer.section(6, Writer.timeSignal(nil))).spliceTime == nil)
    }

    @Test("segmentation descriptors of a time_signal are read, and others skipped")
    func segmentations() throws {
        let upid = Array("SIGNAL:abc".utf8)
        let descriptors =
            [0, 5] + Array("CUEI".utf8) + [1] + [2, 5] + Array("ABCD".utf8) + [1]
            + Writer.segmentation(5, 0x34, duration: 5_400_000, upidType: 9, upid: upid)
            + Writer.segmentation(6, 0x31, components: 3)
        let signal = try SpliceInformation(
            parsing: Writer.section(6, Writer.timeSignal(90_000), descriptors: descriptors))
        #expect(signal.segmentations.map(\.eventID) == [5, 6])
        #expect(signal.segmentations.map(\.type) == [.providerPlacementOpportunityStart, .providerAdvertisementEnd])
        let first = try #require(signal.segmentations.first)
        #expect(first.duration == Self.time(5_400_000))
        #expect(first.upidType == 9)
        #expect(first.upid == upid)
        #expect(first.upidText == "SIGNAL:abc")
        #expect((first.number, first.count) == (1, 2))
        #expect(signal.segmentations[1].duration == nil)
        #expect(signal.segmentations[1].upidText == nil)
    }

    @Test("a command without a length ends with its fields")
    func unknownLength() throws {
        let command = Writer.insert(3, out: true, at: 5)
        let descriptor = Writer.segmentation(8, 0x22)
        let section = Writer.section(5, command, descriptors: descriptor, length: 0xfff)
        let read = try SpliceInformation(parsing: section)
        #expect(read.insert?.eventID == 3)
        #expect(read.segmentations.map(\.eventID) == [8])
        #expect(throws: MediaError.self) {
            try SpliceInformation(parsing: Writer.section(0xff, Array("ABCD".utf8), length: 0xfff))
        }
    }

    @Test("only the raw section of encrypted splice information is available")
    func encrypted() throws {
        let section = Writer.section(5, Writer.insert(3, out: true, at: 5), isEncrypted: true)
        let read = try SpliceInformation(parsing: section)
        #expect(read.commandType == nil)
        #expect(read.insert == nil)
        #expect(read.bytes == section)
    }

    /// From SCTE 35, §14.1 and §14.2.
    @Test("the standard's examples are read in hexadecimal and base 64")
    func examples() throws {
        let signal = try SpliceInformation(
            text:
                "0xFC3034000000000000FFFFF00506FE72BD0050001E021C435545494800008E7FCF0001A599B00808000000002CA0A18A3402009AC9D17E"
        )
        #expect(signal.hasValidChecksum)
        #expect(signal.commandType == .timeSignal)
        #expect(signal.spliceTime == Self.time(0x0_72bd_0050))
        #expect(signal.segmentations.first?.eventID == 0x4800_008e)
        #expect(signal.segmentations.first?.type == .providerPlacementOpportunityStart)
        #expect(signal.segmentations.first?.duration == Self.time(0x01_a599b0))
        #expect(signal.segmentations.first?.upid == [0, 0, 0, 0, 0x2c, 0xa0, 0xa1, 0x8a])
        let insert = try SpliceInformation(
            text: "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo=")
        #expect(insert.hasValidChecksum)
        #expect(insert.insert?.eventID == 0x4800_008f)
        #expect(insert.insert?.isOutOfNetwork == true)
        #expect(insert.spliceTime == Self.time(0x0_7369_c02e))
        #expect(insert.insert?.breakDuration == Self.time(0x0_0052_ccf5))
        #expect(insert.base64Text == "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo=")
        #expect(try SpliceInformation(text: insert.base64Text) == insert)
    }

    @Test(
        "invalid sections are refused",
        arguments: [
            "", "0x", "0xFC", "0xFC30", "0xG0", "/DAv", "!!", "0x00301100000000000000FFFFF0000000000000000000000",
        ])
    func refused(_ text: String) {
        #expect(throws: MediaError.self) { try SpliceInformation(text: text) }
    }

    @Test("a truncated or damaged section never traps, and bytes after it are ignored")
    func damage() throws {
        let section = Writer.section(
            5, Writer.insert(3, out: true, at: 5, duration: 9),
            descriptors: Writer.segmentation(5, 0x34, duration: 1, upidType: 1, upid: [1, 2, 3], components: 2))
        let whole = try SpliceInformation(parsing: section)
        #expect(try SpliceInformation(parsing: section + [1, 2, 3]) == whole)
        for count in section.indices {
            #expect(throws: MediaError.self) { try SpliceInformation(parsing: Array(section.prefix(count))) }
        }
        var random = SystemlessRandom(seed: 35)
        var readCount = 0
        for round in 0..<20_000 {
            var bytes = round.isMultiple(of: 4) ? (0..<random.next(80)).map { _ in UInt8(random.next(256)) } : section
            for _ in 0..<1 + random.next(6) where !bytes.isEmpty {
                bytes[random.next(bytes.count)] = UInt8(random.next(256))
            }
            if !bytes.isEmpty { bytes[0] = 0xfc }
            guard let read = try? SpliceInformation(parsing: bytes) else { continue }
            readCount += 1
            _ = read.description
            #expect(read.bytes.count <= bytes.count)
        }
        #expect(readCount > 1000)
    }
}

/// A random number generator that gives the same numbers in every run.
private struct SystemlessRandom {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }
}
