/// Folders of servers that have given no media, and were waited for once: those of an ad break that is gone, say. The rest of
/// such a folder is not waited for as long as the first of it.
///
/// A folder that has given something is a server that is down for a while, and so is the only one that a list names.
package struct SilentFolders: Sendable {
    private static let limit = 1000

    private var heard: Set<String> = []
    private var silent: Set<String> = []
    /// The folder of the last media, which is the folder of the next media, too, in most streams.
    private var lastHeard = ""

    package init() {}

    /// The URL, or reference, up to the name of the file.
    package static func folder(of url: String) -> String {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        return path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// Nothing came from the folder of this URL, and it was waited for.
    package func isSilent(_ url: String) -> Bool { !silent.isEmpty && silent.contains(Self.folder(of: url)) }

    /// Media came.
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

    /// What was waited for is given up, and something of another folder is listed behind it.
    package mutating func giveUp(_ url: String) {
        let folder = Self.folder(of: url)
        guard !heard.contains(folder), silent.count < Self.limit else { return }
        silent.insert(folder)
    }
}
