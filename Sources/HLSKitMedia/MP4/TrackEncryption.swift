/// The protection scheme of encrypted MP4 media. The set is open.
///
/// ``cenc`` and ``cens`` use AES-CTR, ``cbc1`` and ``cbcs`` AES-CBC. ``cens`` and ``cbcs`` have a pattern of encrypted
/// and clear blocks.
///
/// Source: ISO/IEC 23001-7 §10.
package struct EncryptionScheme: RawRepresentable, Sendable, Hashable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    package static let cenc = EncryptionScheme(rawValue: "cenc")
    package static let cbc1 = EncryptionScheme(rawValue: "cbc1")
    package static let cens = EncryptionScheme(rawValue: "cens")
    /// HLS calls it SAMPLE-AES in fMP4.
    package static let cbcs = EncryptionScheme(rawValue: "cbcs")
    /// AES-CBC within NAL units and audio frames of transport streams and packed audio, where HLS calls it SAMPLE-AES.
    /// Samples use the playlist's initialization vector.
    ///
    /// Source: Apple, "MPEG-2 Stream Encryption Format for HTTP Live Streaming".
    package static let elementaryStream = EncryptionScheme(rawValue: "elementaryStream")
}

/// The default encryption of a track's samples (`sinf` with `schm` and `tenc`).
package struct TrackEncryption: Sendable, Hashable {
    package var scheme: EncryptionScheme
    /// Whether samples are encrypted by default. If false, only samples with their own encryption data are encrypted.
    package var isProtected: Bool
    /// The identifier of the key, 16 bytes.
    package var defaultKeyID: [UInt8]
    /// The bytes of each sample's initialization vector: 0, 8 or 16. 0 means ``constantInitializationVector``.
    package var initializationVectorSize: Int
    /// The vector of all samples without their own. Empty if each sample has one.
    package var constantInitializationVector: [UInt8]
    /// The number of encrypted 16-byte blocks in each group of `cryptByteBlock` + `skipByteBlock` blocks. If both are
    /// 0, there is no pattern and all whole blocks are encrypted.
    package var cryptByteBlock: Int
    package var skipByteBlock: Int

    package init(
        scheme: EncryptionScheme, isProtected: Bool = true, defaultKeyID: [UInt8], initializationVectorSize: Int,
        constantInitializationVector: [UInt8] = [], cryptByteBlock: Int = 0, skipByteBlock: Int = 0
    ) {
        self.scheme = scheme
        self.isProtected = isProtected
        self.defaultKeyID = defaultKeyID
        self.initializationVectorSize = initializationVectorSize
        self.constantInitializationVector = constantInitializationVector
        self.cryptByteBlock = cryptByteBlock
        self.skipByteBlock = skipByteBlock
    }
}

package struct SampleEncryption: Sendable, Hashable {
    /// A clear part of a sample and the protected part that follows it, in bytes.
    package struct Subsample: Sendable, Hashable {
        package var clearByteCount: Int
        package var protectedByteCount: Int

        package init(clearByteCount: Int, protectedByteCount: Int) {
            self.clearByteCount = clearByteCount
            self.protectedByteCount = protectedByteCount
        }
    }

    package var scheme: EncryptionScheme
    package var keyID: [UInt8]
    /// 8 or 16 bytes.
    package var initializationVector: [UInt8]
    /// Empty if the whole sample is protected. The sum may differ from the size of the sample, which the decryptor
    /// checks.
    package var subsamples: [Subsample]
    /// The pattern; see ``TrackEncryption/cryptByteBlock``.
    package var cryptByteBlock: Int
    package var skipByteBlock: Int

    package init(
        scheme: EncryptionScheme, keyID: [UInt8], initializationVector: [UInt8], subsamples: [Subsample] = [],
        cryptByteBlock: Int = 0, skipByteBlock: Int = 0
    ) {
        self.scheme = scheme
        self.keyID = keyID
        self.initializationVector = initializationVector
        self.subsamples = subsamples
        self.cryptByteBlock = cryptByteBlock
        self.skipByteBlock = skipByteBlock
    }
}

extension SampleEncryption {
    package static let elementaryStream = SampleEncryption(
        scheme: .elementaryStream, keyID: [], initializationVector: [])
}

extension TrackEncryption {
    static let elementaryStream = TrackEncryption(
        scheme: .elementaryStream, defaultKeyID: [], initializationVectorSize: 0)

    /// Reads the common fields of `tenc` and a `seig` group entry, from the pattern byte on.
    ///
    /// Source: ISO/IEC 23001-7 §6 and §8.2.
    init(scheme: EncryptionScheme, parsingDefaultsOf reader: inout BoxReader, hasPattern: Bool) throws(MediaError) {
        let pattern = try reader.readUInt8()
        let isProtected = try reader.readUInt8() != 0
        let size = Int(try reader.readUInt8())
        guard [0, 8, 16].contains(size) else { throw reader.malformed("initialization vectors of \(size) bytes") }
        let keyID = Array(try reader.readBytes(16))
        var constantVector: [UInt8] = []
        if isProtected, size == 0 {
            let constantSize = Int(try reader.readUInt8())
            guard [8, 16].contains(constantSize) else {
                throw reader.malformed("a constant initialization vector of \(constantSize) bytes")
            }
            constantVector = Array(try reader.readBytes(constantSize))
        }
        self.init(
            scheme: scheme, isProtected: isProtected, defaultKeyID: keyID, initializationVectorSize: size,
            constantInitializationVector: constantVector, cryptByteBlock: hasPattern ? Int(pattern >> 4) : 0,
            skipByteBlock: hasPattern ? Int(pattern & 15) : 0)
    }
}

struct ProtectionInformation {
    var originalFormat: FourCharacterCode
    /// nil if the scheme is not part of common encryption (no `tenc`).
    var encryption: TrackEncryption?

    init(parsing payload: BoxReader) throws(MediaError) {
        var reader = payload
        var format: FourCharacterCode?
        var scheme: FourCharacterCode?
        var trackEncryption: BoxReader?
        while var child = try reader.nextBox() {
            switch child.type {
            case "frma": format = try child.payload.readCode()
            case "schm":
                _ = try child.payload.readVersionAndFlags()
                scheme = try child.payload.readCode()
            case "schi":
                while let inner = try child.payload.nextBox() {
                    if inner.type == "tenc" { trackEncryption = inner.payload }
                }
            default: break
            }
        }
        guard let format else { throw payload.malformed("'sinf' without 'frma'") }
        originalFormat = format
        if let scheme, var tenc = trackEncryption {
            let version = try tenc.readVersionAndFlags().version
            try tenc.skip(1)
            encryption = try TrackEncryption(
                scheme: EncryptionScheme(rawValue: scheme.description), parsingDefaultsOf: &tenc,
                hasPattern: version > 0)
        }
    }
}

struct SampleEncryptionCursor {
    private var track: TrackEncryption
    /// nil if samples have no encryption data.
    private var entries: BoxReader?
    private let hasSubsamples: Bool
    private var remaining: UInt32

    /// Uses the constant vector without subsamples for all samples.
    init(constantFor track: TrackEncryption) {
        self.track = track
        hasSubsamples = false
        remaining = .max
    }

    /// Source: ISO/IEC 23001-7 §7.2 (`senc`); the `uuid` box of PIFF 1.1 has the same form with flag 1 added.
    init(parsing payload: BoxReader, track: TrackEncryption) throws(MediaError) {
        var reader = payload
        self.track = track
        let flags = try reader.readVersionAndFlags().flags
        if flags & 1 != 0 {
            try reader.skip(3)  // AlgorithmID
            let size = Int(try reader.readUInt8())
            guard [0, 8, 16].contains(size) else { throw payload.malformed("initialization vectors of \(size) bytes") }
            self.track.initializationVectorSize = size
            self.track.defaultKeyID = Array(try reader.readBytes(16))
        }
        hasSubsamples = flags & 2 != 0
        remaining = try reader.readUInt32()
        entries = reader
    }

    /// Reads the same data without a `senc` box. `saiz` declares the length of each sample's entry.
    init(auxiliary entries: BoxReader, hasSubsamples: Bool, count: UInt32, track: TrackEncryption) {
        self.track = track
        self.entries = entries
        self.hasSubsamples = hasSubsamples
        remaining = count
    }

    /// Whether there were entries and all have been read.
    var isEmpty: Bool { entries != nil && remaining == 0 }

    /// Skips the entries of `count` samples. Takes time only if entries have bytes.
    mutating func skip(_ count: Int) throws(MediaError) {
        guard var reader = entries else { return }
        guard let count32 = UInt32(exactly: count), count32 <= remaining else { throw tooFew(reader) }
        remaining -= count32
        defer { entries = reader }
        guard hasSubsamples else {
            let (byteCount, overflow) = count.multipliedReportingOverflow(by: track.initializationVectorSize)
            guard !overflow else { throw tooFew(reader) }
            return try reader.skip(byteCount)
        }
        for _ in 0..<count {
            try reader.skip(track.initializationVectorSize)
            try reader.skip(Int(try reader.readUInt16()) * 6)
        }
    }

    mutating func next() throws(MediaError) -> SampleEncryption {
        var result = SampleEncryption(
            scheme: track.scheme, keyID: track.defaultKeyID,
            initializationVector: track.constantInitializationVector, cryptByteBlock: track.cryptByteBlock,
            skipByteBlock: track.skipByteBlock)
        guard var reader = entries else { return result }
        guard remaining > 0 else { throw tooFew(reader) }
        remaining -= 1
        if track.initializationVectorSize > 0 {
            result.initializationVector = Array(try reader.readBytes(track.initializationVectorSize))
        }
        if hasSubsamples {
            let count = Int(try reader.readUInt16())
            guard count * 6 <= reader.remaining else { throw reader.malformed("\(count) subsamples are missing") }
            result.subsamples.reserveCapacity(count)
            for _ in 0..<count {
                result.subsamples.append(
                    .init(
                        clearByteCount: Int(try reader.readUInt16()),
                        protectedByteCount: Int(try reader.readUInt32())))
            }
        }
        entries = reader
        return result
    }

    private func tooFew(_ reader: BoxReader) -> MediaError {
        reader.malformed("encryption data for fewer samples than the fragment has")
    }
}
