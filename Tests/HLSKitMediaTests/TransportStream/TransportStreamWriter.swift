/// A writer of small transport streams that can be irregular in many ways.
struct TransportStreamWriter {
    var bytes: [UInt8] = []
    private var counters: [Int: UInt8] = [:]
    /// The payload bytes of a packet. Fewer than 184 leave room for stuffing.
    var payloadLimit = 184

    struct Stream {
        var pid: Int
        var type: UInt8
        var descriptors: [UInt8] = []
    }

    struct PES {
        var pid: Int
        var streamID: UInt8 = 0xe0
        var pts: Int64?
        var dts: Int64?
        var payload: [UInt8]
        var hasLength = false
        var declaredLength: Int?
        var isRandomAccess = false
    }

    /// Creates a writer. If there are streams, it begins with the tables of one program (number 1, map PID 4096).
    init(streams: [Stream] = []) {
        guard !streams.isEmpty else { return }
        associate([1: 4096])
        map(program: 1, pid: 4096, streams: streams)
    }

    /// - Parameter section: The numbers of this section and of the last section.
    mutating func associate(
        _ programs: KeyValuePairs<Int, Int>, version: UInt8 = 0,
        section place: (number: UInt8, last: UInt8) = (0, 0), breaksChecksum: Bool = false
    ) {
        var body: [UInt8] = [0, 1, 0xc1 | version << 1, place.number, place.last]
        for (number, pid) in programs {
            body += [UInt8(number >> 8), UInt8(number & 255), 0xe0 | UInt8(pid >> 8), UInt8(pid & 255)]
        }
        section(pid: 0, tableID: 0, body: body, breaksChecksum: breaksChecksum)
    }

    mutating func map(program: Int, pid: Int, streams: [Stream], version: UInt8 = 0, breaksChecksum: Bool = false) {
        var body: [UInt8] = [UInt8(program >> 8), UInt8(program & 255), 0xc1 | version << 1, 0, 0, 0xff, 0xff, 0xf0, 0]
        for stream in streams {
            body += [
                stream.type, 0xe0 | UInt8(stream.pid >> 8), UInt8(stream.pid & 255),
                0xf0 | UInt8(stream.descriptors.count >> 8), UInt8(stream.descriptors.count & 255),
            ]
            body += stream.descriptors
        }
        section(pid: pid, tableID: 2, body: body, breaksChecksum: breaksChecksum)
    }

    mutating func section(pid: Int, tableID: UInt8, body: [UInt8], breaksChecksum: Bool = false) {
        let length = body.count + 4
        var section: [UInt8] = [tableID, 0xb0 | UInt8(length >> 8), UInt8(length & 255)] + body
        var crc: UInt32 = 0xffff_ffff
        for byte in section {
            for bit in (0..<8).reversed() {
                let carry = (crc >> 31) ^ UInt32(byte >> bit & 1)
                crc = crc << 1 ^ (carry == 1 ? 0x04c1_1db7 : 0)
            }
        }
        if breaksChecksum { crc ^= 1 }
        section += (0..<4).map { UInt8(truncatingIfNeeded: crc >> (24 - 8 * UInt32($0))) }
        var payload = [0] + section
        var isFirst = true
        while !payload.isEmpty {
            let part = payload.prefix(184)
            packet(pid: pid, payload: part + [UInt8](repeating: 0xff, count: 184 - part.count), startsUnit: isFirst)
            payload.removeFirst(part.count)
            isFirst = false
        }
    }

    static func timestamp(_ prefix: UInt8, _ value: Int64) -> [UInt8] {
        let v = UInt64(value) & 0x1_ffff_ffff
        return [
            prefix << 4 | UInt8(v >> 29 & 0x0e) | 1, UInt8(v >> 22 & 0xff), UInt8(v >> 14 & 0xfe) | 1,
            UInt8(v >> 7 & 0xff), UInt8(v << 1 & 0xfe) | 1,
        ]
    }

    static func header(_ pes: PES) -> [UInt8] {
        var optional: [UInt8] = []
        if let pts = pes.pts { optional += timestamp(pes.dts == nil ? 2 : 3, pts) }
        if let dts = pes.dts { optional += timestamp(1, dts) }
        let flags: UInt8 = pes.pts == nil ? 0 : pes.dts == nil ? 0x80 : 0xc0
        let length = pes.declaredLength ?? (pes.hasLength ? 3 + optional.count + pes.payload.count : 0)
        return [
            0, 0, 1, pes.streamID, UInt8(length >> 8 & 255), UInt8(length & 255), 0x80, flags, UInt8(optional.count),
        ]
            + optional
    }

    mutating func add(_ pes: PES) {
        var rest = (Self.header(pes) + pes.payload)[...]
        var isFirst = true
        while !rest.isEmpty {
            let part = Array(rest.prefix(isFirst && pes.isRandomAccess ? min(payloadLimit, 182) : payloadLimit))
            packet(
                pid: pes.pid, payload: part, startsUnit: isFirst, flags: isFirst && pes.isRandomAccess ? 0x40 : 0)
            rest = rest.dropFirst(part.count)
            isFirst = false
        }
    }

    mutating func packet(
        pid: Int, payload: [UInt8], startsUnit: Bool, flags: UInt8 = 0, scrambling: UInt8 = 0
    ) {
        let counter = counters[pid, default: 0]
        counters[pid] = (counter + 1) & 15
        var room = 184 - payload.count
        precondition(flags == 0 || room >= 2, "no room for the flags")
        var field: [UInt8] = []
        if room > 0 {
            room -= 1
            field = [UInt8(room)]
            if room > 0 { field += [flags] + [UInt8](repeating: 0xff, count: room - 1) }
        }
        bytes += [
            0x47, (startsUnit ? 0x40 : 0) | UInt8(pid >> 8), UInt8(pid & 255),
            scrambling << 6 | (field.isEmpty ? 0x10 : 0x30) | counter,
        ]
        bytes += field + payload
    }

    /// Gives the next packet the counter of the previous one.
    mutating func repeatCounter(pid: Int) { lose(15, pid: pid) }

    mutating func lose(_ count: Int = 1, pid: Int) { counters[pid] = (counters[pid, default: 0] + UInt8(count)) & 15 }

    var packetCount: Int { bytes.count / 188 }

    mutating func removePacket(at index: Int) { bytes.removeSubrange(index * 188..<(index + 1) * 188) }
}

/// Tiny access units of H.264. They need not be decodable.
enum TinyVideo {
    static let delimiter: [UInt8] = [0, 0, 0, 1, 0x09, 0xf0]
    /// 64 by 48.
    static let parameterSets: [UInt8] =
        [0, 0, 0, 1, 0x67, 0x42, 0xc0, 0x0a, 0xda, 0x11, 0xe4] + [0, 0, 1, 0x68, 0xcb, 0x83, 0xcb, 0x20]
    /// 32 by 32.
    static let smallParameterSets: [UInt8] =
        [0, 0, 0, 1, 0x67, 0x42, 0xc0, 0x0a, 0xda, 0x25, 0x90] + [0, 0, 1, 0x68, 0xcb, 0x83, 0xcb, 0x20]

    /// Returns a slice with `first_mb_in_slice` 0 and the type I, or with 7 and the type P.
    static func slice(isIDR: Bool, isFirst: Bool = true, count: Int = 40, fill: UInt8 = 0xaa) -> [UInt8] {
        [0, 0, 1, isIDR ? 0x65 : 0x41, isFirst ? 0x88 : 0x11] + [UInt8](repeating: fill, count: count)
    }

    static func unit(isIDR: Bool, count: Int = 40, fill: UInt8 = 0xaa) -> [UInt8] {
        delimiter + (isIDR ? parameterSets : []) + slice(isIDR: isIDR, count: count, fill: fill)
    }
}

/// AAC frames with ADTS headers: 48 kHz, two channels.
enum TinyAudio {
    static func frame(count: Int = 30, fill: UInt8, sampleRateIndex: UInt8 = 3) -> [UInt8] {
        let length = 7 + count
        return [
            0xff, 0xf1, 0x40 | sampleRateIndex << 2, 0x80 | UInt8(length >> 11), UInt8(length >> 3 & 255),
            UInt8(length & 7) << 5 | 0x1f, 0xfc,
        ] + [UInt8](repeating: fill, count: count)
    }
}
