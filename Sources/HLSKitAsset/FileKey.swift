/// The name of a part of a media file: a URL fragment (`film.mp4#track=1,2&segment=83`), so that errors and logs name
/// the file.
struct FileKey: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        case playlist
        case header
        case segment(Int)
    }

    var trackIDs: [Int]
    var part: Part

    init(trackIDs: [Int], part: Part) {
        self.trackIDs = trackIDs
        self.part = part
    }

    init?(_ url: String, of file: String) {
        guard url.utf8.count > file.utf8.count, url.hasPrefix(file) else { return nil }
        self.init(fragment: url.dropFirst(file.count))
    }

    private init?(fragment: Substring) {
        guard fragment.first == "#" else { return nil }
        let words = fragment.dropFirst().split(separator: "&", omittingEmptySubsequences: false)
        guard let tracks = words.first, tracks.hasPrefix("track="), words.count <= 2 else { return nil }
        let numbers = tracks.dropFirst(6).split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        trackIDs = numbers.compactMap(\.self)
        guard trackIDs.count == numbers.count else { return nil }
        switch words.dropFirst().first {
        case nil: part = .playlist
        case "header"?: part = .header
        case let word?:
            guard word.hasPrefix("segment="), let number = Int(word.dropFirst(8)) else { return nil }
            part = .segment(number)
        }
    }

    /// The URL fragment, including `#`.
    var fragment: String {
        let tracks = "#track=" + trackIDs.map(String.init).joined(separator: ",")
        switch part {
        case .playlist: return tracks
        case .header: return tracks + "&header"
        case .segment(let number): return tracks + "&segment=\(number)"
        }
    }
}
