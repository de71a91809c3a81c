extension [UInt8] {
    /// The bytes with emulation prevention bytes inserted (ISO/IEC 14496-10 §7.4.1).
    var withEmulationPrevention: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count)
        var zeros = 0
        for byte in self {
            if zeros >= 2 && byte <= 3 {
                result.append(3)
                zeros = 0
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
        return result
    }
}
