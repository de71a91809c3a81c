/// Folders that never delivered media and were already waited for, such as a removed ad break's. Later segments of such
/// a folder are not retried as long as the first.
///
/// If a folder has delivered media, or is the only one in a playlist, its server is considered temporarily unavailable
/// instead.
package struct SilentFolders: Sendable {
    private static let limit = 1000

    private var heard: Set<String> = []
    private var silent: Set<String> = []
    /// The folder of the last media, which is the folder of the next media, too, in most streams.
    private var lastHeard = ""

    package init() {}

    package static func folder(of url: String) -> String {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        return path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    package func isSilent(_ url: String) -> Bool { !silent.isEmpty && silent.contains(Self.folder(of: url)) }

    package mutating func noteMedia(from url: String) {
        if !lastHeard.isEmpty, url.hasPrefix(lastHeard), !url.utf8.dropFirst(lastHeard.utf8.count).contains(0x2F) {
            return
        }
        let folder = Self.folder(of: url)
        if !silent.isEmpty { silent.remove(folder) }
        lastHeard = folder
        if heard.count >= Self.limit { heard.removeAll() }
        heard.insert(folder)
    }

    /// Records that waiting for a URL was given up while a later segment is in another folder.
    package mutating func giveUp(_ url: String) {
        let folder = Self.folder(of: url)
        guard !heard.contains(folder), silent.count < Self.limit else { return }
        silent.insert(folder)
    }
}
