package import HLSKitLoading
import HLSKitMedia
import Synchronization

/// Shares the state of a cipher between two pieces of a resource.
package final class DecryptionBox: Sendable {
    private let state: Mutex<AES128Decryptor>

    package init(key: [UInt8], vector: [UInt8]) throws(DecryptionError) {
        state = Mutex(try AES128Decryptor(key: key, initializationVector: vector))
    }

    package func decrypt(_ bytes: [UInt8]) throws(DecryptionError) -> [UInt8] {
        var clear = bytes
        try state.withLock { decryptor throws(DecryptionError) in try decryptor.decrypt(&clear) }
        return clear
    }

    /// The last bytes, whose padding may be missing.
    package func finish() throws(DecryptionError) -> AES128Decryptor.End {
        try state.withLock { decryptor throws(DecryptionError) in try decryptor.end() }
    }

    /// Decrypts a complete resource. If the clear text is media, missing padding is accepted.
    package func decryptWhole(_ bytes: [UInt8]) throws(DecryptionError) -> [UInt8] {
        let clear = try decrypt(bytes)
        let end = try finish()
        if !end.isPadded, case .unknown? = ContainerProbe.identify((clear + end.bytes)[...], isComplete: true) {
            throw DecryptionError(code: .badPadding, text: "AES-128: neither padded nor media (another key?)")
        }
        return clear + end.bytes
    }
}
