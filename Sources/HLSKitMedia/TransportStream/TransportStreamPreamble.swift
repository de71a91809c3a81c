/// The tables of a transport stream's first program, as packets that can precede any part of the stream.
package struct TransportStreamPreamble: Sendable {
    private let programs: [UInt8]
    package let mapPID: Int
    private let map: [UInt8]
    private let stride: Int
    private let prefix: Int

    /// - Parameters:
    ///   - head: The first bytes of the stream.
    ///   - programPIDs: The tracks that the program must have.
    /// - Returns: nil if the tables are not in these bytes.
    package init?(head: [UInt8], stride: Int, holding programPIDs: [Int]) {
        self.stride = stride
        prefix = stride == 192 ? 4 : 0
        var reader = TransportPacketReader()
        var programs: [UInt8]?
        var assemblers: [Int: SectionAssembler] = [:]
        var found: (pid: Int, section: [UInt8])?
        reader.append(head[...]) { packet, _ in
            let header = TransportPacket(packet)
            guard found == nil, let payload = header.payload, !header.isScrambled else { return }
            if header.pid == 0, header.startsUnit {
                let bytes = [UInt8](copying: packet, payload)
                let pids = Self.mapPIDs(bytes)
                guard !pids.isEmpty else { return }
                programs = [UInt8](copying: packet, 0..<TransportPacket.byteCount)
                for pid in pids where assemblers[pid] == nil { assemblers[pid] = SectionAssembler() }
            } else if var assembler = assemblers[header.pid] {
                let sections = assembler.append(header, packet)
                assemblers[header.pid] = assembler
                for section in sections where section.first == 2 && SectionAssembler.checksum(section) == 0 {
                    let streams = Self.streams(of: section)
                    guard programPIDs.allSatisfy({ pid in streams.contains { $0.pid == pid } }) else { continue }
                    found = (header.pid, section)
                }
            }
        } skipped: { _ in
        }
        guard let programs, let found else { return nil }
        self.programs = programs
        mapPID = found.pid
        map = found.section
    }

    private static func mapPIDs(_ payload: [UInt8]) -> [Int] {
        guard let pointer = payload.first.map(Int.init), payload.count >= pointer + 13, payload[pointer + 1] == 0 else {
            return []
        }
        let section = payload[(pointer + 1)...]
        let start = section.startIndex
        let end = start + 3 + (Int(section[start + 1] & 15) << 8 | Int(section[start + 2])) - 4
        var pids: [Int] = []
        var at = start + 8
        while at + 4 <= min(end, section.endIndex) {
            // Program 0 is the network information table.
            if section[at] != 0 || section[at + 1] != 0 {
                pids.append(Int(section[at + 2] & 0x1F) << 8 | Int(section[at + 3]))
            }
            at += 4
        }
        return pids
    }

    private struct Stream {
        var pid: Int
        var range: Range<Int>
    }

    private static func streams(of section: [UInt8]) -> [Stream] {
        guard section.count >= 16 else { return [] }
        var at = 12 + (Int(section[10] & 15) << 8 | Int(section[11]))
        var streams: [Stream] = []
        while at + 5 <= section.count - 4 {
            let end = at + 5 + (Int(section[at + 3] & 15) << 8 | Int(section[at + 4]))
            guard end <= section.count - 4 else { break }
            streams.append(Stream(pid: Int(section[at + 1] & 0x1F) << 8 | Int(section[at + 2]), range: at..<end))
            at = end
        }
        return streams
    }

    package func packets(without left: Set<Int>) -> [UInt8] {
        var section = map
        for stream in Self.streams(of: map).reversed() where left.contains(stream.pid) {
            section.removeSubrange(stream.range)
        }
        let length = section.count - 3
        section[1] = section[1] & 0xF0 | UInt8(length >> 8)
        section[2] = UInt8(length & 0xFF)
        let checksum = SectionAssembler.checksum(Array(section.dropLast(4)))
        for (index, shift) in [24, 16, 8, 0].enumerated() {
            section[section.count - 4 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(shift))
        }
        return Self.framed(programs, stride, prefix) + packets(of: [0] + section)
    }

    private func packets(of payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = payload[...]
        var counter: UInt8 = 0
        while !rest.isEmpty {
            let isFirst = counter == 0
            var packet: [UInt8] = [
                0x47, (isFirst ? 0x40 : 0) | UInt8(mapPID >> 8), UInt8(mapPID & 0xFF), 0x10 | counter & 15,
            ]
            packet += rest.prefix(184)
            rest = rest.dropFirst(184)
            packet += [UInt8](repeating: 0xFF, count: TransportPacket.byteCount - packet.count)
            bytes += Self.framed(packet, stride, prefix)
            counter += 1
        }
        return bytes
    }

    private static func framed(_ packet: [UInt8], _ stride: Int, _ prefix: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: prefix) + packet
            + [UInt8](repeating: 0, count: max(0, stride - prefix - packet.count))
    }
}

/// Removes tracks from a transport stream by replacing their packets with null packets.
package struct TransportStreamBlotter: Sendable {
    private let pids: Set<Int>
    private let stride: Int
    private let prefix: Int
    /// The end of the received bytes, less than a packet.
    private var rest: [UInt8] = []

    package init(_ pids: Set<Int>, stride: Int) {
        self.pids = pids
        self.stride = stride
        prefix = stride == 192 ? 4 : 0
    }

    /// - Parameter bytes: The next bytes. The first call begins with a packet.
    package mutating func append(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = rest + bytes
        let whole = bytes.count / stride * stride
        rest = Array(bytes[whole...])
        bytes.removeSubrange(whole...)
        for start in Swift.stride(from: prefix, to: whole, by: stride) where bytes[start] == TransportPacket.syncByte {
            let pid = Int(bytes[start + 1] & 0x1F) << 8 | Int(bytes[start + 2])
            guard pids.contains(pid) else { continue }
            bytes[start + 1] |= 0x1F
            bytes[start + 2] = 0xFF
        }
        return bytes
    }

    package mutating func finish() -> [UInt8] {
        defer { rest = [] }
        return rest
    }
}
