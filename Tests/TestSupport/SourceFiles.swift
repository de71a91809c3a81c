import Foundation

/// The files of this package, for tests of rules that apply to all of them.
package enum SourceFiles {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    package static func all(below folder: String) throws -> [(path: String, text: String)] {
        let base = root.appending(path: folder)
        let files = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil)
        var all: [(path: String, text: String)] = []
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            all.append((file.path, try String(contentsOf: file, encoding: .utf8)))
        }
        return all
    }
}
