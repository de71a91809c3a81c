import Foundation

package final class ScratchFolder: Sendable {
    package let path: String

    package init() throws {
        var template = Array((NSTemporaryDirectory() + "/hlskit-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        // Resolves symbolic links because policies compare real paths.
        path =
            URL(fileURLWithPath: String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
            .resolvingSymlinksInPath().path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    @discardableResult
    package func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = path + "/" + name
        let folder = String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }
}
