package import HLSKitLoading
package import HLSKitMedia

/// Decrypts single samples with an identity key: `METHOD=SAMPLE-AES` and `SAMPLE-AES-CTR`.
///
/// Source: ISO/IEC 23001-7 §9 and §10 for MP4; Apple, "MPEG-2 Stream Encryption Format for HTTP Live Streaming" for
/// transport streams and packed audio.
package struct SampleDecryptor: ~Copyable {
    private let key: [UInt8]
    /// The vector of the playlist. MP4 has its own.
    private let initializationVector: [UInt8]
    private var chain: AESCipher
    private var counter: AESCipher?

    /// - Throws: `badKeyLength` unless the key has 16 bytes.
    package init(key: [UInt8], initializationVector: [UInt8]) throws(DecryptionError) {
        self.key = key
        self.initializationVector = initializationVector
        chain = try AESCipher(.cbc, key: key)
    }

    /// Returns the sample in the clear. An unencrypted sample is returned unchanged.
    package mutating func decrypt(_ sample: MediaSample, codec: MediaCodec) throws(DecryptionError) -> MediaSample {
        guard let encryption = sample.encryption else { return sample }
        var clear = sample
        clear.encryption = nil
        switch encryption.scheme {
        case .cenc, .cens, .cbc1, .cbcs:
            // Samples are protected by default, but this one is not.
            guard !encryption.initializationVector.isEmpty else { return clear }
            clear.data = try inPlace(sample.data) { buffer, decryptor throws(DecryptionError) in
                try decryptor.decryptCommon(buffer, encryption)
            }
        case .elementaryStream where codec == .h264:
            clear.data = SampleData(try decryptNALUnits(sample.data))
        case .elementaryStream:
            clear.data = try inPlace(sample.data) { buffer, decryptor throws(DecryptionError) in
                try decryptor.decryptFrames(buffer, codec)
            }
        default:
            throw DecryptionError(code: .badSample, text: "the scheme \(encryption.scheme.rawValue) is not known")
        }
        return clear
    }

    private mutating func inPlace(
        _ data: SampleData,
        _ body: (UnsafeMutableRawBufferPointer, inout SampleDecryptor) throws(DecryptionError) -> Void
    ) throws(DecryptionError) -> SampleData {
        var failure: DecryptionError?
        let clear = SampleData(count: data.count) { buffer in
            data.withUnsafeBytes { buffer.copyMemory(from: $0) }
            do throws(DecryptionError) { try body(buffer, &self) } catch { failure = error }
        }
        if let failure { throw failure }
        return clear
    }

    // MARK: Common encryption

    private mutating func decryptCommon(
        _ bytes: UnsafeMutableRawBufferPointer, _ encryption: SampleEncryption
    ) throws(DecryptionError) {
        var vector = encryption.initializationVector
        if vector.count == 8 { vector += [UInt8](repeating: 0, count: 8) }
        try restart(encryption.scheme, vector)
        guard !encryption.subsamples.isEmpty else {
            return try decrypt(bytes, 0..<bytes.count, encryption)
        }
        var offset = 0
        for subsample in encryption.subsamples {
            let start = offset + subsample.clearByteCount
            let end = start + subsample.protectedByteCount
            guard end <= bytes.count else {
                throw DecryptionError(
                    code: .badSample, text: "subsamples of \(end) bytes in a sample of \(bytes.count)")
            }
            // Only in this scheme does each subsample start a new chain.
            if encryption.scheme == .cbcs, subsample.protectedByteCount > 0 { try restart(.cbcs, vector) }
            try decrypt(bytes, start..<end, encryption)
            offset = end
        }
    }

    private mutating func restart(_ scheme: EncryptionScheme, _ vector: [UInt8]) throws(DecryptionError) {
        switch scheme {
        case .cenc, .cens:
            if counter == nil { counter = try AESCipher(.ctr, key: key) }
            try counter?.restart(vector)
        default: try chain.restart(vector)
        }
    }

    private mutating func decrypt(
        _ bytes: UnsafeMutableRawBufferPointer, _ range: Range<Int>, _ encryption: SampleEncryption
    ) throws(DecryptionError) {
        let usesCounter = encryption.scheme == .cenc || encryption.scheme == .cens
        let block = AESCipher.blockByteCount
        let hasPattern = encryption.cryptByteBlock > 0 && encryption.skipByteBlock > 0
        var at = range.lowerBound
        while at < range.upperBound {
            let whole = (range.upperBound - at) / block * block
            // Without a pattern, the counter mode also covers the last bytes. A chain never does.
            let count =
                hasPattern
                ? min(whole, encryption.cryptByteBlock * block) : usesCounter ? range.upperBound - at : whole
            guard count > 0 else { return }
            let piece = UnsafeMutableRawBufferPointer(rebasing: bytes[at..<at + count])
            if usesCounter { try counter?.convert(piece) } else { try chain.convert(piece) }
            guard hasPattern else { return }
            at += count + encryption.skipByteBlock * block
        }
    }

    // MARK: Elementary streams

    /// The first 16 bytes of each frame are clear. All whole blocks after them are encrypted.
    private mutating func decryptFrames(
        _ bytes: UnsafeMutableRawBufferPointer, _ codec: MediaCodec
    ) throws(DecryptionError) {
        let lead = 16
        var at = 0
        while at < bytes.count {
            var end = bytes.count
            // Related frames of enhanced AC-3 form one sample.
            if codec == .eac3 {
                guard let header = AC3Header(parsing: Array(bytes[at..<min(at + AC3Header.byteCount, end)])[...]),
                    header.frameByteCount > 0
                else { return }
                end = min(end, at + header.frameByteCount)
            }
            let count = max(0, end - at - lead) / AESCipher.blockByteCount * AESCipher.blockByteCount
            if count > 0 {
                try chain.restart(initializationVector)
                try chain.convert(UnsafeMutableRawBufferPointer(rebasing: bytes[at + lead..<at + lead + count]))
            }
            at = end
        }
    }

    /// Decrypts the encrypted slices (NAL unit types 1 and 5) of H.264 data.
    ///
    /// In slices of more than 48 bytes, one block in ten is encrypted from byte 32 on, as long as more than one block
    /// is left. The encryption covers the emulation prevention bytes of the slices, and a second layer of emulation
    /// prevention is added around it.
    private mutating func decryptNALUnits(_ data: SampleData) throws(DecryptionError) -> [UInt8] {
        let bytes = data.withUnsafeBytes { Array($0) }
        let starts = bytes.withUnsafeBytes { buffer in
            var starts: [Int] = []
            var from = 0
            while let start = NALUnits.startCode(in: buffer, from: from) {
                starts.append(start + 3)
                from = start + 3
            }
            return starts
        }
        guard let first = starts.first else { return bytes }
        var clear = Array(bytes[..<first])
        clear.reserveCapacity(bytes.count + bytes.count / 64)
        for (index, start) in starts.enumerated() {
            let next = index + 1 < starts.count ? starts[index + 1] - 3 : bytes.count
            var end = next
            while end > start, bytes[end - 1] == 0 { end -= 1 }
            let unit = bytes[start..<end]
            if unit.count > 48, [1, 5].contains((unit.first ?? 0) & 0x1F) {
                var payload = NALUnits.rawPayload(of: unit)
                try decryptSlice(&payload)
                clear += payload
            } else {
                clear += unit
            }
            clear += bytes[end..<(index + 1 < starts.count ? next + 3 : next)]
        }
        return clear
    }

    private mutating func decryptSlice(_ payload: inout [UInt8]) throws(DecryptionError) {
        let block = AESCipher.blockByteCount
        try chain.restart(initializationVector)
        var failure: DecryptionError?
        payload.withUnsafeMutableBytes { bytes in
            var at = 32
            do throws(DecryptionError) {
                while bytes.count - at > block {
                    try chain.convert(UnsafeMutableRawBufferPointer(rebasing: bytes[at..<at + block]))
                    at += 10 * block
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}
