import TestSupport

/// Encrypts the media of transport streams as `METHOD=SAMPLE-AES` requires, using OpenSSL.
///
/// Source: Apple, "MPEG-2 Stream Encryption Format for HTTP Live Streaming".
enum SampleAES {
    static let key: [UInt8] = (0..<16).map { $0 * 17 }
    static let vector: [UInt8] = (0..<16).map { $0 }
    static let tag = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"key.bin\",IV=0x000102030405060708090a0b0c0d0e0f"

    struct Unit {
        var bytes: [UInt8]
        let blocks: [Int]

        init(slice bytes: [UInt8]) {
            self.bytes = bytes
            let isSlice = bytes.count > 48 && [1, 5].contains((bytes.first ?? 0) & 0x1f)
            blocks = isSlice ? Array(stride(from: 32, to: bytes.count - 16, by: 160)) : []
        }

        /// Creates a unit from a frame with an ADTS header of 7 bytes.
        init(frame bytes: [UInt8]) {
            self.bytes = bytes
            blocks = (0..<max(0, bytes.count - 7 - 16) / 16).map { 7 + 16 + 16 * $0 }
        }
    }

    /// Encrypts each unit as a separate chain. Each call of OpenSSL encrypts the next block of all units.
    static func encrypt(_ units: inout [Unit]) throws {
        let hexadecimal = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        for round in 0... {
            let active = units.indices.filter { units[$0].blocks.count > round }
            guard !active.isEmpty else { return }
            var input: [UInt8] = []
            for index in active {
                let unit = units[index]
                let before = round == 0 ? vector[...] : unit.block(round - 1)
                input += zip(unit.block(round), before).map { $0 ^ $1 }
            }
            let output = try Tool.run(["openssl", "enc", "-aes-128-ecb", "-nopad", "-K", hexadecimal], input: input)
            guard output.count == input.count else { throw Tool.Failure(description: "openssl wrote too little") }
            for (place, index) in active.enumerated() {
                let at = units[index].blocks[round]
                units[index].bytes.replaceSubrange(at..<at + 16, with: output[place * 16..<place * 16 + 16])
            }
        }
    }

    static func split(_ stream: [UInt8]) -> [[UInt8]] {
        var units: [[UInt8]] = []
        var (start, at) = (0, 0)
        while at + 2 < stream.count {
            guard stream[at] == 0, stream[at + 1] == 0, stream[at + 2] == 1 else {
                at += 1
                continue
            }
            if start > 0 { units.append(Array(stream[start..<at])) }
            at += 3
            start = at
        }
        if start > 0 { units.append(Array(stream[start...])) }
        return units.map { unit in
            var unit = unit
            while unit.last == 0 { unit.removeLast() }
            return unit
        }
    }

    static func encrypt(_ payloads: [(isVideo: Bool, bytes: [UInt8])]) throws -> [[UInt8]] {
        var units: [Unit] = []
        var counts: [Int] = []
        for payload in payloads {
            let found = payload.isVideo ? split(payload.bytes).map(Unit.init(slice:)) : [Unit(frame: payload.bytes)]
            units += found
            counts.append(found.count)
        }
        try encrypt(&units)
        var rest = units[...]
        return zip(payloads, counts).map { payload, count in
            defer { rest = rest.dropFirst(count) }
            guard payload.isVideo else { return rest.first?.bytes ?? [] }
            return rest.prefix(count).flatMap { unit in
                [0, 0, 0, 1] + (unit.blocks.isEmpty ? unit.bytes : unit.bytes.withEmulationPrevention)
            }
        }
    }
}

extension SampleAES.Unit {
    fileprivate func block(_ number: Int) -> ArraySlice<UInt8> { bytes[blocks[number]..<blocks[number] + 16] }
}
