/// The extension of a `dec3` box that declares object audio (Dolby Atmos) in E-AC-3.
///
/// Source: ETSI TS 103 420 §8.3.2; ETSI TS 102 366 §F.6.
package struct EnhancedAC3Extension: Sendable, Hashable {
    /// The number of objects, `complexity_index_type_a`.
    package var complexityIndex: UInt8
    /// The bit rate in the box, in bits per second.
    package var bitRate: Int

    package init(complexityIndex: UInt8, bitRate: Int) {
        (self.complexityIndex, self.bitRate) = (complexityIndex, bitRate)
    }

    init?(parsing payload: ArraySlice<UInt8>) {
        guard let end = Self.baseByteCount(of: payload), payload.count >= end + 2 else { return nil }
        let rest = payload.dropFirst(end)
        guard rest[rest.startIndex] & 1 == 1 else { return nil }
        complexityIndex = rest[rest.startIndex + 1]
        bitRate = (Int(payload[payload.startIndex]) << 5 | Int(payload[payload.startIndex + 1]) >> 3) * 1000
    }

    /// The bytes of a payload before its extension: data rate and number of substreams, then the substreams.
    private static func baseByteCount(of payload: ArraySlice<UInt8>) -> Int? {
        guard payload.count >= 2 else { return nil }
        var count = 2
        for _ in 0...(payload[payload.startIndex + 1] & 7) {
            guard payload.count >= count + 3 else { return nil }
            let dependentCount = payload[payload.startIndex + count + 2] >> 1 & 0xF
            count += dependentCount > 0 ? 4 : 3
        }
        return payload.count >= count ? count : nil
    }

    /// Adds extensions to `dec3` boxes without one.
    ///
    /// All sizes and offsets in the file stay valid, because the extension takes its two bytes from the following box,
    /// `btrt`. That box repeats the bit rate and becomes a `free` box.
    ///
    /// - Parameters:
    ///   - extensions: The extensions of the boxes in the order of the file, `nil` for boxes to leave unchanged.
    ///   - bytes: Part of a file.
    /// - Returns: The number of boxes that were found.
    package static func add(_ extensions: [EnhancedAC3Extension?], to bytes: inout [UInt8]) -> Int {
        let name = Array("dec3".utf8)
        var found = 0
        var at = 4
        while found < extensions.count, at + 4 <= bytes.count {
            guard bytes[at] == name[0], bytes[at..<at + 4].elementsEqual(name) else {
                at += 1
                continue
            }
            if let added = extensions[found] { added.add(toBoxAt: at - 4, of: &bytes) }
            found += 1
            at += 4
        }
        return found
    }

    private func add(toBoxAt start: Int, of bytes: inout [UInt8]) {
        let size = Int(bytes[start...].bigEndianUInt32(at: start))
        let (end, next) = (start + size, Array([0, 0, 0, 20] + "btrt".utf8))
        guard (10...64).contains(size), end + 20 <= bytes.count, bytes[end..<end + 8].elementsEqual(next),
            Self.baseByteCount(of: bytes[start + 8..<end]) == size - 8
        else { return }
        bytes[start + 3] = UInt8(size + 2)
        let rest = [1, complexityIndex, 0, 0, 0, 18] + Array("free".utf8) + [UInt8](repeating: 0, count: 10)
        bytes.replaceSubrange(end..<end + 20, with: rest)
    }
}
