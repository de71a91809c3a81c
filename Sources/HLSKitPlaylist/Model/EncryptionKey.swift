import HLSKitTime

/// The encryption of segments and the location of their key: `EXT-X-KEY` and `EXT-X-SESSION-KEY`.
///
/// Source: rfc8216bis §4.4.4.4.
public struct EncryptionKey: Sendable, Hashable {
    /// An encryption method.
    ///
    /// The set is open: segments with an unknown method cannot be played and are never treated as unencrypted.
    public struct Method: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``rawValue``.
        public var description: String { rawValue }

        /// Whole segments, encrypted with AES-128 in CBC mode.
        public static let aes128 = Method(rawValue: "AES-128")
        /// Parts of each sample, encrypted with AES-128 in CBC mode (`cbcs` in MP4).
        public static let sampleAES = Method(rawValue: "SAMPLE-AES")
        /// Parts of each sample, encrypted with AES-128 in CTR mode (`cenc` in MP4).
        public static let sampleAESCTR = Method(rawValue: "SAMPLE-AES-CTR")
    }

    /// The encryption method.
    public var method: Method
    /// The URI of the key, as written, or `nil` if it is missing, which is an issue.
    public var uri: String?
    /// The initialization vector of 16 bytes, or `nil` if undeclared.
    public var iv: [UInt8]?
    /// The key format, or `nil` for `identity`.
    public var keyFormat: String?
    /// The versions of the key format, as written: `1/2/5`.
    ///
    /// `nil` means 1.
    public var keyFormatVersions: String?
    /// Attributes without a corresponding property.
    public var otherAttributes: [PlaylistAttribute]

    /// Creates a key.
    ///
    /// Without `iv`, the media sequence number is the vector. Without `keyFormat`, the format is `identity`.
    public init(
        method: Method, uri: String?, iv: [UInt8]? = nil, keyFormat: String? = nil, keyFormatVersions: String? = nil,
        otherAttributes: [PlaylistAttribute] = []
    ) {
        self.method = method
        self.uri = uri
        self.iv = iv
        self.keyFormat = keyFormat
        self.keyFormatVersions = keyFormatVersions
        self.otherAttributes = otherAttributes
    }

    package var effectiveKeyFormat: String { keyFormat ?? "identity" }

    /// Returns the declared IV, or else the media sequence number as a 128-bit big-endian number.
    public func initializationVector(forMediaSequence mediaSequence: Int) -> [UInt8] {
        if let iv { return iv }
        let number = UInt64(max(0, mediaSequence))
        return [UInt8](repeating: 0, count: 8)
            + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }
}

extension EncryptionKey {
    /// Reads the attributes of the current tag. Returns nil for `METHOD=NONE`.
    init?(_ context: inout ReadingContext, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) {
        self.init(method: Method(rawValue: ""), uri: nil)
        var hasMethod = false
        while let attribute = try context.nextAttribute(bytes) {
            switch attribute.name {
            case .method:
                hasMethod = true
                method = Self.method(attribute.value, bytes)
                if attribute.isQuoted || method.rawValue.isEmpty {
                    method = Method(rawValue: try context.enumerated(attribute, bytes))
                }
            case .uri: uri = try context.uri(attribute, bytes)
            case .iv: iv = try Self.iv(attribute, &context, bytes)
            case .keyFormat: keyFormat = try context.string(attribute, bytes)
            case .keyFormatVersions: keyFormatVersions = try context.string(attribute, bytes)
            default: otherAttributes.append(try context.keep(attribute, bytes))
            }
        }
        if !hasMethod { try context.reportMissing(.method) }
        if method.rawValue == "NONE" {
            if context.tag == .sessionKey { try context.report(.unknownValue, "METHOD must not be NONE") }
            if uri != nil || iv != nil || keyFormat != nil {
                try context.report(.attributeConflict, "METHOD=NONE with other attributes", severity: .warning)
            }
            return nil
        }
        if uri == nil { try context.reportMissing(.uri) }
    }

    /// Returns a usual method without creating a string, or an empty one for others.
    private static func method(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>) -> Method {
        if bytes.equals(range, "AES-128") { return .aes128 }
        if bytes.equals(range, "SAMPLE-AES") { return .sampleAES }
        return Method(rawValue: "")
    }

    /// Reads `0x` and up to 32 digits, padded on the left (rule 19). Reports any other text and returns nil.
    private static func iv(
        _ attribute: Attribute, _ context: inout ReadingContext, _ bytes: borrowing Span<UInt8>
    ) throws(PlaylistError) -> [UInt8]? {
        if attribute.isQuoted { try context.report(.quoting, "IV must not be quoted") }
        if context.traits.contains(.brace), let text = try context.expanded(attribute.value, bytes) {
            return try iv(text.span, 0..<text.count, &context)
        }
        return try iv(bytes, attribute.value, &context)
    }

    private static func iv(
        _ bytes: borrowing Span<UInt8>, _ range: Range<Int>, _ context: inout ReadingContext
    ) throws(PlaylistError) -> [UInt8]? {
        var digits = range
        if digits.count >= 2, bytes[digits.lowerBound] == 0x30, bytes[digits.lowerBound + 1] | 0x20 == 0x78 {
            digits = digits.lowerBound + 2..<digits.upperBound
        } else {
            try context.report(.hexadecimal, "IV does not start with 0x")
        }
        var number: UInt128 = 0
        var isNumber = (1...32).contains(digits.count)
        while isNumber, let first = digits.first {
            digits = first + 1..<digits.upperBound
            if let digit = bytes[first].hexadecimalValue {
                number = number << 4 | UInt128(digit)
            } else {
                isNumber = false
            }
        }
        guard isNumber else {
            // Decrypting with an IV other than the intended one would be wrong.
            throw context.failure(
                .hexadecimal, "the IV is not a number of up to 128 bits: \"\(bytes.excerpt(range))\"")
        }
        var iv = [UInt8](repeating: 0, count: 16)
        for index in 0..<16 { iv[index] = UInt8(truncatingIfNeeded: number >> UInt128(120 - 8 * index)) }
        return iv
    }

    var attributeText: String {
        var list = AttributeText()
        list.plain(.method, method.rawValue)
        list.quoted(.uri, uri)
        list.plain(.iv, iv.map { "0x" + $0.hexadecimalText })
        list.quoted(.keyFormat, keyFormat)
        list.quoted(.keyFormatVersions, keyFormatVersions)
        list.other(otherAttributes)
        return list.text
    }
}
