/// The closed captions of one picture: triples of a kind and two bytes.
///
/// Source: ANSI/CTA-708-E §4.4 (`cc_data`); ATSC A/53 Part 4 §6.2.3 (`GA94` in SEI of H.264 and HEVC); QuickTime File
/// Format, "Closed Captioning Media" (`c608`); SMPTE ST 334-2 (caption distribution packets).
package struct ClosedCaptionData: Sendable, Hashable {
    package struct Pair: Sendable, Hashable {
        /// The raw value is `cc_type`.
        package enum Kind: UInt8, Sendable, Hashable {
            /// Two bytes of line 21 (CEA-608).
            case field1, field2
            /// CEA-708 data that continues or begins a packet.
            case packetData, packetStart
        }

        package var kind: Kind
        /// Both bytes include parity in CEA-608.
        package var first: UInt8
        package var second: UInt8

        package init(kind: Kind, first: UInt8, second: UInt8) {
            self.kind = kind
            self.first = first
            self.second = second
        }
    }

    package var pairs: [Pair]

    package init(pairs: [Pair] = []) { self.pairs = pairs }

    /// Finds the captions in an access unit of H.264 or HEVC. Damaged units and other codecs have none.
    ///
    /// In MP4, this examines the head of each NAL unit. In a byte stream, it examines each byte up to the first slice,
    /// or all bytes if the unit has two fields.
    package init(sample: MediaSample, track: MediaTrack) {
        pairs = []
        guard track.codec == .h264 || track.codec == .hevc, sample.encryption == nil else { return }
        let isHEVC = track.codec == .hevc
        sample.data.withUnsafeBytes { bytes in
            if let lengthSize = track.nalUnitLengthSize {
                readLengthPrefixed(bytes, lengthSize: lengthSize, isHEVC: isHEVC)
            } else {
                readAnnexB(bytes, isHEVC: isHEVC, endsAtSlice: !sample.holdsTwoFields)
            }
        }
    }

    /// Reads a sample of a `c608` track: atoms `cdat` and `cdt2` with pairs of the two fields.
    package init(line21Sample bytes: ArraySlice<UInt8>) {
        pairs = []
        Self.forEachAtom(of: bytes) { name, payload in
            guard name == "cdat" || name == "cdt2" else { return }
            var rest = payload
            while let first = rest.popFirst(), let second = rest.popFirst() {
                pairs.append(Pair(kind: name == "cdat" ? .field1 : .field2, first: first, second: second))
            }
        }
    }

    /// Reads a sample of a `c708` track: atoms `ccdp` with caption distribution packets.
    package init(distributionSample bytes: ArraySlice<UInt8>) {
        pairs = []
        Self.forEachAtom(of: bytes) { name, payload in
            if name == "ccdp" { readDistributionPacket(payload) }
        }
    }

    private static func forEachAtom(of bytes: ArraySlice<UInt8>, _ body: (String, ArraySlice<UInt8>) -> Void) {
        var rest = bytes
        while rest.count >= 8 {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard size >= 8, size <= rest.count else { return }
            let name = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
            body(name, rest.prefix(size).dropFirst(8))
            rest = rest.dropFirst(size)
        }
    }

    private mutating func readDistributionPacket(_ packet: ArraySlice<UInt8>) {
        // Identifier, length, rate, flags, sequence counter.
        guard packet.count > 7, packet.starts(with: [0x96, 0x69]) else { return }
        var rest = packet.dropFirst(7)
        if rest.first == 0x71 { rest = rest.dropFirst(5) }  // time code
        guard rest.popFirst() == 0x72, let count = rest.popFirst() else { return }
        readPairs(rest, count: Int(count & 0x1f))
    }

    // MARK: NAL units

    private mutating func readLengthPrefixed(_ bytes: UnsafeRawBufferPointer, lengthSize: Int, isHEVC: Bool) {
        var at = 0
        while at + lengthSize <= bytes.count {
            var length = 0
            for offset in 0..<lengthSize { length = length << 8 | Int(bytes[at + offset]) }
            at += lengthSize
            guard length > 0, length <= bytes.count - at else { return }
            readUnit(bytes, at..<at + length, isHEVC: isHEVC)
            at += length
        }
    }

    private mutating func readAnnexB(_ bytes: UnsafeRawBufferPointer, isHEVC: Bool, endsAtSlice: Bool) {
        var code = NALUnits.startCode(in: bytes, from: 0)
        while let start = code {
            let header = start + 3
            guard header < bytes.count else { return }
            // Slices are long, so do not search for their end unless the other field follows them.
            if endsAtSlice, Self.isSlice(bytes[header], isHEVC: isHEVC) { return }
            code = NALUnits.startCode(in: bytes, from: header)
            readUnit(bytes, header..<(code ?? bytes.count), isHEVC: isHEVC)
        }
    }

    private static func isSlice(_ header: UInt8, isHEVC: Bool) -> Bool {
        isHEVC ? header >> 1 & 0x3f < 32 : (1...5).contains(header & 0x1f)
    }

    private mutating func readUnit(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, isHEVC: Bool) {
        guard let header = range.first.map({ bytes[$0] }) else { return }
        let isMessage = isHEVC ? header >> 1 & 0x3f == 39 : header & 0x1f == 6
        let headerSize = isHEVC ? 2 : 1
        guard isMessage, range.count > headerSize else { return }
        readMessages(NALUnits.rawPayload(of: bytes[range.dropFirst(headerSize)])[...])
    }

    private mutating func readMessages(_ payload: ArraySlice<UInt8>) {
        var rest = payload
        // The last byte is rbsp_trailing_bits.
        while rest.count > 2 {
            var fields = [0, 0]
            for field in 0..<2 {
                while rest.first == 0xff {
                    fields[field] += 255
                    rest = rest.dropFirst()
                }
                guard let last = rest.popFirst() else { return }
                fields[field] += Int(last)
            }
            guard fields[1] <= rest.count else { return }
            if fields[0] == 4 { readRegisteredData(rest.prefix(fields[1])) }
            rest = rest.dropFirst(fields[1])
        }
    }

    /// user_data_registered_itu_t_t35: United States, ATSC, GA94, cc_data.
    private mutating func readRegisteredData(_ data: ArraySlice<UInt8>) {
        let head: [UInt8] = [0xb5, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03]
        guard data.starts(with: head), data.count > head.count + 2 else { return }
        let rest = data.dropFirst(head.count)
        guard let flags = rest.first, flags & 0x40 != 0 else { return }
        readPairs(rest.dropFirst(2), count: Int(flags & 0x1f))
    }

    private mutating func readPairs(_ bytes: ArraySlice<UInt8>, count: Int) {
        var rest = bytes
        for _ in 0..<count {
            guard let flags = rest.popFirst(), let first = rest.popFirst(), let second = rest.popFirst() else { return }
            guard flags & 0x04 != 0, let kind = Pair.Kind(rawValue: flags & 3) else { continue }
            pairs.append(Pair(kind: kind, first: first, second: second))
        }
    }
}

package struct ClosedCaptionReorderer: Sendable {
    package struct Entry: Sendable, Hashable {
        /// The presentation time, in units of the track's timescale.
        package var pts: Int64
        package var data: ClosedCaptionData

        package init(pts: Int64, data: ClosedCaptionData) {
            self.pts = pts
            self.data = data
        }
    }

    /// The largest number of pictures that a decoder reorders (16 in H.264 and HEVC, as frames or as fields).
    private static let maxHeldCount = 32

    private struct Offsets {
        var first: Int64
        var smallest: Int64
        var largest: Int64

        /// The amount by which a presentation time may precede a decoding time.
        var debt: Int64 {
            // With negative composition offsets, each picture that is decoded early is followed by an equal number of
            // pictures that are presented before it.
            first <= 0 ? max(0, largest) : smallest < 0 ? 0 - smallest : 0
        }
    }

    /// The entries by presentation time.
    private var held: [Entry] = []
    private var offsets: Offsets?

    package init() {}

    /// Adds the captions of a picture and returns those that no later picture can precede.
    ///
    /// - Parameter dts: The decoding time of the picture, which may be after its presentation time (ISO/IEC 14496-12
    ///   §8.6.1.3: composition offsets may be negative).
    package mutating func add(_ data: ClosedCaptionData, pts: Int64, dts: Int64) -> [Entry] {
        let (difference, isFar) = pts.subtractingReportingOverflow(dts)
        let offset = isFar ? 0 : min(max(difference, Int64.min / 4), Int64.max / 4)
        var offsets = offsets ?? Offsets(first: offset, smallest: offset, largest: offset)
        offsets.smallest = min(offsets.smallest, offset)
        offsets.largest = max(offsets.largest, offset)
        self.offsets = offsets
        let (bound, isBefore) = dts.subtractingReportingOverflow(offsets.debt)
        if !data.pairs.isEmpty {
            let index = held.lastIndex { $0.pts <= pts }.map { $0 + 1 } ?? 0
            held.insert(Entry(pts: pts, data: data), at: index)
        }
        var count = isBefore ? 0 : held.firstIndex { $0.pts > bound } ?? held.count
        count = max(count, held.count - Self.maxHeldCount)
        defer { held.removeFirst(count) }
        return Array(held.prefix(count))
    }

    package mutating func finish() -> [Entry] {
        offsets = nil
        defer { held = [] }
        return held
    }
}
