import HLSKitMedia

extension CodecRegistry {
    /// Whether media of a `CODECS` entry can be decoded. Entries other than audio and video are accepted.
    package static func canDecode(entry: String) -> Bool {
        let string = CodecString(rawValue: entry)
        guard string.mediaType == .video || string.mediaType == .audio else { return string.mediaType != nil }
        return string.codec.map(canDecode) ?? false
    }
}
