/// The header of a WAV file with 16 bits per sample.
///
/// Sources: RIFF WAVE (Microsoft, `WAVEFORMATEX` and `WAVEFORMATEXTENSIBLE`), EBU Tech 3306 (RF64).
struct WAVHeader {
    private static let bytesPerSample = 2
    /// The length that readers treat as "until the end", used if the length is unknown or too large.
    private static let unknown = UInt32.max
    private static let ds64ByteCount = 28

    private let sampleRate: UInt32
    private let channelCount: UInt16
    private let channelMask: UInt32
    private let bytesPerSecond: UInt32
    /// Whether the header has space for the 64-bit lengths of a large file.
    private let canGrow: Bool

    init?(sampleRate: Int, channelCount: Int, channelMask: UInt64, canGrow: Bool) {
        guard let rate = UInt32(exactly: sampleRate), let channels = UInt16(exactly: channelCount), channels > 0 else {
            return nil
        }
        let (frameByteCount, overflow) = channels.multipliedReportingOverflow(by: UInt16(Self.bytesPerSample))
        let (bytesPerSecond, rateOverflow) = rate.multipliedReportingOverflow(by: UInt32(frameByteCount))
        guard !overflow, !rateOverflow else { return nil }
        self.sampleRate = rate
        self.channelCount = channels
        self.channelMask = UInt32(exactly: channelMask) ?? 0
        self.bytesPerSecond = bytesPerSecond
        self.canGrow = canGrow
    }

    /// More than two channels need the extensible form, which contains the position of each channel.
    private var isExtensible: Bool { channelCount > 2 }

    var byteCount: Int64 {
        12 + (canGrow ? 8 + Int64(Self.ds64ByteCount) : 0) + 8 + (isExtensible ? 40 : 16) + 8
    }

    func bytes(dataByteCount: Int64?) -> [UInt8] {
        let riffByteCount = dataByteCount.map { $0 + byteCount - 8 }
        let isLong = canGrow && (riffByteCount ?? 0) >= Int64(Self.unknown)
        func length(_ value: Int64?) -> UInt32 {
            isLong ? Self.unknown : value.map(UInt32.init(clamping:)) ?? Self.unknown
        }

        var bytes: [UInt8] = []
        func append(_ text: String) { bytes += Array(text.utf8) }
        func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.littleEndian) { bytes += $0 } }

        append(isLong ? "RF64" : "RIFF")
        append(length(riffByteCount))
        append("WAVE")
        if canGrow {
            append(isLong ? "ds64" : "JUNK")
            append(UInt32(Self.ds64ByteCount))
            let frameByteCount = Int64(channelCount) * Int64(Self.bytesPerSample)
            append(isLong ? riffByteCount ?? 0 : 0)
            append(isLong ? dataByteCount ?? 0 : 0)
            append(isLong ? (dataByteCount ?? 0) / frameByteCount : 0)
            append(UInt32(0))  // entries of the table
        }
        append("fmt ")
        append(UInt32(isExtensible ? 40 : 16))
        append(UInt16(isExtensible ? 0xFFFE : 1))
        append(channelCount)
        append(sampleRate)
        append(bytesPerSecond)
        append(channelCount * UInt16(Self.bytesPerSample))
        append(UInt16(Self.bytesPerSample * 8))
        if isExtensible {
            append(UInt16(22))
            append(UInt16(Self.bytesPerSample * 8))
            append(channelMask)
            // KSDATAFORMAT_SUBTYPE_PCM
            bytes += [1, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
        }
        append("data")
        append(length(dataByteCount))
        return bytes
    }
}
