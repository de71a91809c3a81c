package import HLSKitLoading
import Synchronization

/// The state of a cipher between two pieces of a resource, in a place where it can be shared.
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

    /// - Parameter mayLackPadding: what was decrypted before proves the key.
    package func finish(mayLackPadding: Bool = false) throws(DecryptionError) -> [UInt8] {
        try state.withLock { decryptor throws(DecryptionError) in
            try decryptor.finish(mayLackPadding: mayLackPadding)
        }
    }
}
