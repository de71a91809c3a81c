/// A minimal reader of transport streams (one program, whole packets) that inspects the output of a muxer.
struct TransportStream {
    struct Malformed: Error {
        let text: String
    }

    struct Unit {
        var pts: Int64
        var dts: Int64
        var payload: [UInt8]
    }

    struct Elementary {
        let type: UInt8
        let packetID: Int
        var units: [Unit] = []
    }

    struct Tables: Equatable {
        var version: UInt8
        /// The type of each stream, by PID.
        var types: [Int: UInt8] = [:]
    }

    var streams: [Elementary] = []
    /// The program's tables, without repetitions.
    var tables: [Tables] = []
    var discontinuityCount = 0

    init(_ bytes: [UInt8]) throws {
        guard bytes.count % 188 == 0, !bytes.isEmpty else { throw Malformed(text: "\(bytes.count) bytes") }
        var tablePID: Int?
        for start in stride(from: 0, to: bytes.count, by: 188) {
            let packet = Array(bytes[start..<start + 188])
            guard packet[0] == 0x47 else { throw Malformed(text: "no sync byte at \(start)") }
            let packetID = Int(packet[1] & 0x1F) << 8 | Int(packet[2])
            let isStart = packet[1] & 0x40 != 0
            var body = packet[4...]
            var isDiscontinuous = false
            if packet[3] & 0x20 != 0 {
                isDiscontinuous = packet[4] > 0 && packet[5] & 0x80 != 0
                body = body.dropFirst(1 + Int(packet[4]))
            }
            guard packet[3] & 0x10 != 0 else { continue }
            if packetID == 0, isStart {
                let section = Array(body.dropFirst(1 + Int(body.first ?? 0)))
                tablePID = Int(section[10] & 0x1F) << 8 | Int(section[11])
            } else if packetID == tablePID, isStart {
                readProgram(Array(body.dropFirst(1 + Int(body.first ?? 0))))
            } else if let index = streams.firstIndex(where: { $0.packetID == packetID }) {
                if isDiscontinuous { discontinuityCount += 1 }
                if isStart {
                    streams[index].units.append(try Self.unit(Array(body)))
                } else if !streams[index].units.isEmpty {
                    streams[index].units[streams[index].units.count - 1].payload += body
                }
            }
        }
    }

    private mutating func readProgram(_ section: [UInt8]) {
        let end = 3 + (Int(section[1] & 0xF) << 8 | Int(section[2])) - 4
        var place = 12 + (Int(section[10] & 0xF) << 8 | Int(section[11]))
        var found = Tables(version: section[5] >> 1 & 31)
        defer { if found != tables.last { tables.append(found) } }
        while place + 5 <= end {
            let packetID = Int(section[place + 1] & 0x1F) << 8 | Int(section[place + 2])
            found.types[packetID] = section[place]
            if !streams.contains(where: { $0.packetID == packetID }) {
                streams.append(Elementary(type: section[place], packetID: packetID))
            }
            place += 5 + (Int(section[place + 3] & 0xF) << 8 | Int(section[place + 4]))
        }
    }

    private static func unit(_ bytes: [UInt8]) throws -> Unit {
        guard bytes.count > 14, bytes.starts(with: [0, 0, 1]), bytes[7] & 0x80 != 0 else {
            throw Malformed(text: "a packet of an elementary stream without time")
        }
        func time(at place: Int) -> Int64 {
            let high = Int64(bytes[place] >> 1 & 7) << 30
            let middle = Int64(bytes[place + 1]) << 22 | Int64(bytes[place + 2] >> 1) << 15
            return high | middle | Int64(bytes[place + 3]) << 7 | Int64(bytes[place + 4] >> 1)
        }
        let pts = time(at: 9)
        let dts = bytes[7] & 0x40 != 0 ? time(at: 14) : pts
        return Unit(pts: pts, dts: dts, payload: Array(bytes[(9 + Int(bytes[8]))...]))
    }
}
