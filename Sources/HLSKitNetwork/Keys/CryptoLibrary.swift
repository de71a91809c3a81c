import CCrypto
import HLSKitLoading

/// OpenSSL's libcrypto, opened when it is first needed to decrypt media or to prove a password.
enum CryptoLibrary {
    private static let library = LibraryFunctions(
        CCrypto_file(), package: "libssl\(OPENSSL_VERSION_MAJOR)", find: CCrypto_find)

    static func functions() throws(DecryptionError) -> CCrypto_library {
        guard let table = library.table else { throw DecryptionError(code: .library, text: library.failure ?? "") }
        return table
    }

    enum Hash { case md5, sha256, sha512Of256Bits }

    /// Returns nil if the library is not installed or lacks the hash, as in FIPS mode.
    static func hash(of bytes: [UInt8], _ kind: Hash) -> [UInt8]? {
        guard let crypto = try? functions() else { return nil }
        var hash = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let type =
            switch kind {
            case .md5: crypto.pointee.EVP_md5()
            case .sha256: crypto.pointee.EVP_sha256()
            case .sha512Of256Bits: crypto.pointee.EVP_sha512_256()
            }
        guard crypto.pointee.EVP_Digest(bytes, bytes.count, &hash, &count, type, nil) == 1 else { return nil }
        return Array(hash.prefix(Int(count)))
    }

    static func failure(_ call: String, _ crypto: CCrypto_library) -> DecryptionError {
        let code = crypto.pointee.ERR_get_error()
        var words = [CChar](repeating: 0, count: 256)
        crypto.pointee.ERR_error_string_n(code, &words, words.count)
        let end = words.firstIndex(of: 0) ?? words.count
        return DecryptionError(
            code: .library,
            text: "\(call): " + String(decoding: words[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
}
