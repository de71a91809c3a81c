/// The common parts of H.264 and HEVC byte streams: start codes and emulation prevention.
package enum NALUnits {
    package static func startCode(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        let count = bytes.count
        var at = max(start, 0)
        // Two adjacent zero bytes produce a zero byte in the OR of two words that are one byte apart. By chance, this
        // happens once in 8 KiB of compressed video.
        while at + 9 <= count {
            let word =
                bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                | bytes.loadUnaligned(fromByteOffset: at + 1, as: UInt64.self)
            if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 == 0 {
                at += 8
                continue
            }
            for candidate in at..<at + 8 where candidate + 3 <= count {
                if bytes[candidate] == 0 && bytes[candidate + 1] == 0 && bytes[candidate + 2] == 1 { return candidate }
            }
            at += 8
        }
        while at + 3 <= count {
            if bytes[at] == 0 && bytes[at + 1] == 0 && bytes[at + 2] == 1 { return at }
            at += 1
        }
        return nil
    }

    /// The raw byte sequence payload: `unit` without its emulation prevention bytes (ISO/IEC 14496-10 §7.3.1).
    package static func rawPayload(of unit: some Collection<UInt8>) -> [UInt8] {
        var payload: [UInt8] = []
        payload.reserveCapacity(unit.count)
        var zeros = 0
        for byte in unit {
            if zeros >= 2 && byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            payload.append(byte)
        }
        return payload
    }

    package static func messageTypes(inSEI payload: ArraySlice<UInt8>) -> [Int] {
        messages(inSEI: payload).map(\.number)
    }

    /// The SEI messages in a raw payload from which the NAL unit header has been removed. The last one may be
    /// truncated.
    static func messages(inSEI payload: ArraySlice<UInt8>) -> [(number: Int, bytes: ArraySlice<UInt8>)] {
        var messages: [(number: Int, bytes: ArraySlice<UInt8>)] = []
        var at = payload.startIndex
        // The last byte is rbsp_trailing_bits.
        while at < payload.endIndex - 1 {
            var fields = [0, 0]
            for field in 0..<2 {
                while at < payload.endIndex, payload[at] == 0xff {
                    fields[field] += 255
                    at += 1
                }
                guard at < payload.endIndex else { return messages }
                fields[field] += Int(payload[at])
                at += 1
            }
            let end = at + min(fields[1], payload.endIndex - at)
            messages.append((fields[0], payload[at..<end]))
            at = end
        }
        return messages
    }
}
