package import HLSKitEngine
package import HLSKitLoading
package import HLSKitMedia
import HLSKitNetwork
import Synchronization

/// The state of a cipher between two parts of a segment. Reports failures as the engine expects them.
struct SegmentDecryption: Sendable {
    private let box: DecryptionBox

    init(key: [UInt8], vector: [UInt8]) throws(SegmentFailure) {
        do {
            box = try DecryptionBox(key: key, vector: vector)
        } catch {
            throw SegmentFailure(error, keyByteCount: key.count)
        }
    }

    func decrypt(_ bytes: [UInt8]) throws(SegmentFailure) -> [UInt8] {
        do { return try box.decrypt(bytes) } catch { throw SegmentFailure(error) }
    }

    func finish() throws(SegmentFailure) -> AES128Decryptor.End {
        do { return try box.finish() } catch { throw SegmentFailure(error) }
    }

    /// Decrypts an initialization section. Its first bytes show whether the key fits, because it may have no padding.
    static func decryptWhole(_ bytes: [UInt8], key: [UInt8], _ vector: [UInt8]) throws(SegmentFailure) -> [UInt8] {
        let decryption = try SegmentDecryption(key: key, vector: vector)
        do { return try decryption.box.decryptWhole(bytes) } catch { throw SegmentFailure(error) }
    }
}

package final class SampleDecryption: Sendable {
    private let state: Mutex<SampleDecryptor>

    package init(key: [UInt8], vector: [UInt8]) throws(SegmentFailure) {
        do {
            state = Mutex(try SampleDecryptor(key: key, initializationVector: vector))
        } catch {
            throw SegmentFailure(error, keyByteCount: key.count)
        }
    }

    package func decrypt(_ sample: MediaSample, _ codec: MediaCodec) throws(DecryptionError) -> MediaSample {
        try state.withLock { decryptor throws(DecryptionError) in try decryptor.decrypt(sample, codec: codec) }
    }
}

extension SegmentFailure {
    fileprivate init(_ error: DecryptionError, keyByteCount: Int = 16) {
        switch error.code {
        case .badKeyLength: self = .badKey(byteCount: keyByteCount)
        case .truncated: self = .truncatedCiphertext
        case .badPadding: self = .wrongKey
        case .badSample, .library: self = .media(MediaError(code: .malformed, text: error.text))
        }
    }
}
