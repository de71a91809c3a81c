package import FoundationEssentials
import Glibc
import HLSKitCore

package enum FileBytes {
    package static func read(_ path: String, atMost limit: Int) throws(POSIXError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure }
        defer { close(descriptor) }
        guard let bytes = Descriptor.read(descriptor, atMost: limit) else { throw failure }
        return bytes
    }

    package static func write(_ text: String, to descriptor: Int32) throws(POSIXError) {
        try write(Array(text.utf8), to: descriptor)
    }

    package static func write(_ bytes: [UInt8], to descriptor: Int32) throws(POSIXError) {
        if !Descriptor.write(bytes, to: descriptor) { throw failure }
    }

    private static var failure: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

    package static func text(of error: any Error) -> String {
        let system = error as? POSIXError ?? (error as? CocoaError)?.underlying as? POSIXError
        return system.map { String(cString: strerror($0.code.rawValue)) } ?? "\(error)"
    }
}
