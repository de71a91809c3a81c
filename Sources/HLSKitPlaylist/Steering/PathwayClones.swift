/// The pathway clones that a steering server has named so far, and the resulting playlist.
///
/// Variants are never removed from the playlist, so that their indices remain valid. A clone that disappears is no
/// longer offered. If it returns unchanged, it is offered again. If it returns with other values, it is added as a new
/// clone.
///
/// Source: rfc8216bis §7.3.
package struct PathwayClones: Sendable {
    /// The largest number of clones in the life of an item.
    package static let maximumCount = 128
    package static let maximumEntryCount = 4096
    /// The limit on the total bytes of all created URIs.
    package static let maximumByteCount = 16 << 20

    private struct Entry: Sendable {
        var clone: PathwayClone
        /// The name of its variants' pathway: the clone's name, unless an earlier clone had it.
        var name: String
        /// The name of its base at that time.
        var base: String
        var isOffered = true
    }

    private var entries: [Entry] = []

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    package var vanished: Set<String> { Set(entries.filter { !$0.isOffered }.map(\.name)) }

    /// The name in the playlist of a pathway in a manifest.
    package func name(of id: String) -> String {
        entries.last { $0.clone.id == id && $0.isOffered }?.name ?? id
    }

    /// The server's name of a pathway in the playlist.
    package func id(of name: String) -> String { entries.first { $0.name == name }?.clone.id ?? name }

    /// Adopts the clones of a newer manifest.
    ///
    /// - Parameter pathways: The pathways of the playlist itself.
    /// - Returns: Whether the playlist has changed (``playlist(of:base:)``).
    package mutating func take(_ clones: [PathwayClone], except pathways: Set<String>) -> Bool {
        for index in entries.indices { entries[index].isOffered = false }
        var hasAdded = false
        for clone in clones where !pathways.contains(clone.id) {
            // The base must already exist, as a pathway of the playlist or as an earlier clone.
            let base = name(of: clone.baseID)
            guard pathways.contains(base) || entries.contains(where: { $0.name == base && $0.isOffered }) else {
                continue
            }
            if let index = entries.lastIndex(where: { $0.clone == clone && $0.base == base }) {
                entries[index].isOffered = true
            } else if entries.count < Self.maximumCount {
                var name = clone.id
                while pathways.contains(name) || entries.contains(where: { $0.name == name }) { name += "'" }
                entries.append(Entry(clone: clone, name: name, base: base))
                hasAdded = true
            }
        }
        return hasAdded
    }

    /// Returns a playlist in which the variants and renditions of all clones follow the playlist's own.
    ///
    /// - Parameters:
    ///   - playlist: The playlist without clones.
    ///   - base: Its URL.
    package func playlist(of playlist: MultivariantPlaylist, base: String) -> MultivariantPlaylist {
        var playlist = playlist
        var byteCount = 0
        for entry in entries {
            let variants = playlist.variants.filter { $0.pathway == entry.base }
            let iFrames = playlist.iFrameVariants.filter { $0.pathway == entry.base }
            let used = Groups(of: variants + iFrames)
            let renditions = playlist.renditions.filter(used.contains)
            let count = playlist.variants.count + playlist.renditions.count + playlist.iFrameVariants.count
            guard count + variants.count + iFrames.count + renditions.count <= Self.maximumEntryCount else { continue }
            let uris = variants.map(\.uri) + iFrames.map(\.uri) + renditions.compactMap(\.uri)
            let longest = uris.reduce(base.utf8.count) { max($0, $1.utf8.count) }
            let added = uris.count * (longest + entry.clone.addedByteCount)
            guard byteCount + added <= Self.maximumByteCount else { continue }
            byteCount += added
            playlist.variants += variants.map { $0.cloned(by: entry.clone, named: entry.name, base: base) }
            playlist.iFrameVariants += iFrames.map { $0.cloned(by: entry.clone, named: entry.name, base: base) }
            playlist.renditions += renditions.map { $0.cloned(by: entry.clone, named: entry.name, base: base) }
        }
        return playlist
    }

    private struct Groups {
        private var names: Set<String> = []

        init(of variants: [VariantStream]) {
            for variant in variants {
                if let name = variant.audio { names.insert("AUDIO " + name) }
                if let name = variant.video { names.insert("VIDEO " + name) }
                if let name = variant.subtitles { names.insert("SUBTITLES " + name) }
            }
        }

        func contains(_ rendition: Rendition) -> Bool {
            names.contains("\(rendition.type.rawValue) \(rendition.groupID)")
        }
    }

    /// The group of a clone, which no playlist can name because names end with a line.
    fileprivate static func group(_ name: String, in pathway: String) -> String { "\(name)\n\(pathway)" }
}

extension VariantStream {
    package var pathway: String { pathwayID ?? "." }

    fileprivate func cloned(by clone: PathwayClone, named pathway: String, base: String) -> VariantStream {
        var variant = self
        variant.pathwayID = pathway
        variant.uri = clone.rewritten(uri, own: stableVariantID.flatMap { clone.variantURIs[$0] }, base: base)
        variant.audio = audio.map { PathwayClones.group($0, in: pathway) }
        variant.video = video.map { PathwayClones.group($0, in: pathway) }
        variant.subtitles = subtitles.map { PathwayClones.group($0, in: pathway) }
        return variant
    }
}

extension Rendition {
    fileprivate func cloned(by clone: PathwayClone, named pathway: String, base: String) -> Rendition {
        var rendition = self
        rendition.groupID = PathwayClones.group(groupID, in: pathway)
        let own = stableRenditionID.flatMap { clone.renditionURIs[$0] }
        rendition.uri = uri.map { clone.rewritten($0, own: own, base: base) }
        return rendition
    }
}
