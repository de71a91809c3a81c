/// An error that occurs when a segment is decrypted.
package struct DecryptionError: Error, Hashable, CustomStringConvertible {
    package enum Code: Hashable {
        /// The key or the initialization vector does not have 16 bytes.
        case badKeyLength
        /// The data is empty or not a multiple of 16 bytes, because it was truncated (R52).
        case truncated
        /// The padding is wrong, because the key is wrong or the data is not encrypted (R51).
        case badPadding
        /// The encryption metadata does not match the sample, or names an unknown scheme.
        case badSample
        /// The cryptographic library failed.
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
