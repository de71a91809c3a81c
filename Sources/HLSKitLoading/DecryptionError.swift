/// Why a segment could not be decrypted.
package struct DecryptionError: Error, Hashable, CustomStringConvertible {
    package enum Code: Hashable {
        /// The key or the initialization vector does not have 16 bytes.
        case badKeyLength
        /// The data is empty or not a multiple of 16 bytes: it was cut (R52).
        case truncated
        /// The padding is wrong: it is another key, or no encrypted data (R51).
        case badPadding
        /// What describes the encryption of a sample does not fit it, or names a scheme that is not known.
        case badSample
        /// The library failed.
        case library
    }

    package var code: Code
    package var text: String

    package init(code: Code, text: String) {
        self.code = code
        self.text = text
    }

    package var description: String { text }
}
