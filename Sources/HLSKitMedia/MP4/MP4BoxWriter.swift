/// Builds MP4 boxes in memory.
struct MP4BoxWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ other: some Sequence<UInt8>) { bytes.append(contentsOf: other) }

    mutating func write32(_ value: UInt32) {
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(shift))) }
    }

    mutating func write64(_ value: UInt64) {
        write32(UInt32(truncatingIfNeeded: value >> 32))
        write32(UInt32(truncatingIfNeeded: value))
    }

    mutating func write(code: FourCharacterCode) { write32(code.rawValue) }

    mutating func box<Failure: Error>(
        _ type: FourCharacterCode, _ body: (inout MP4BoxWriter) throws(Failure) -> Void
    ) throws(Failure) {
        let start = bytes.count
        write32(0)
        write(code: type)
        try body(&self)
        let size = UInt32(truncatingIfNeeded: bytes.count - start)
        for (index, shift) in [24, 16, 8, 0].enumerated() {
            bytes[start + index] = UInt8(truncatingIfNeeded: size >> UInt32(shift))
        }
    }

    mutating func fullBox(
        _ type: FourCharacterCode, version: UInt8 = 0, flags: UInt32 = 0, _ body: (inout MP4BoxWriter) -> Void
    ) {
        box(type) { writer in
            writer.write32(UInt32(version) << 24 | flags)
            body(&writer)
        }
    }
}
