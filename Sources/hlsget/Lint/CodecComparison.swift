import HLSKitCore

/// Compares the `CODECS` of variants with their media.
struct CodecComparison: Sendable {
    private let playlist: MultivariantPlaylist
    private let options: AssetOptions?

    init(_ playlist: MultivariantPlaylist, _ options: AssetOptions?) {
        var options = options
        options?.retryPolicies.maximumRetryCount = 0
        (self.playlist, self.options) = (playlist, options)
    }

    /// The codecs of the video and audio in a media playlist, or `nil` if they are unknown.
    ///
    /// They are read from the start of a segment.
    func codecs(of media: MediaPlaylist) async -> [MediaKind: Set<MediaCodec>]? {
        guard let options, playlist.variants.contains(where: { $0.codecsText != nil }), !media.isIFramesOnly,
            !media.segments.isEmpty,
            let tracks = try? await Asset(urlString: media.url, options: options).loadTracks(of: media)
        else { return nil }
        var codecs: [MediaKind: Set<MediaCodec>] = [:]
        for track in tracks where track.mediaType == .video || track.mediaType == .audio {
            guard let format = try? await track.load(.formatDescriptions).first else { continue }
            codecs[track.mediaType, default: []].insert(format.codec)
        }
        return codecs
    }

    /// - Parameters:
    ///   - codecs: The codecs of the media playlists, by URL.
    ///   - line: Returns the line that names a URL first.
    func findings(
        _ codecs: [String: [MediaKind: Set<MediaCodec>]], line: (String) -> Int?
    ) -> [LintFinding] {
        var findings: [LintFinding] = []
        for variant in playlist.variants where variant.codecsText != nil {
            let names = variant.codecs.map(CodecString.init(rawValue:))
            for kind in [MediaKind.video, .audio] {
                let declared = names.filter { $0.mediaType == kind }
                // Unknown names may stand for anything.
                guard declared.allSatisfy({ $0.codec != nil }), !names.contains(where: { $0.mediaType == nil }) else {
                    continue
                }
                let known = Set(declared.compactMap(\.codec).map(Self.family))
                var media: Set<String> = []
                for url in resources(of: variant, kind) {
                    for codec in codecs[url]?[kind] ?? [] where !known.contains(Self.family(codec)) {
                        media.insert(codec.rawValue)
                    }
                }
                guard let other = media.min() else { continue }
                let text = declared.isEmpty ? "no \(kind.rawValue)" : declared.map(\.rawValue).joined(separator: ",")
                let issue = PlaylistIssue(
                    rule: .codecs, line: playlist.resolve(variant.uri).flatMap(line), tag: "EXT-X-STREAM-INF",
                    text: "\(variant.uri): CODECS names \(text), but the \(kind.rawValue) is \(other)")
                findings.append(LintFinding(issue, remedy: "name the formats of the media in CODECS"))
            }
        }
        return findings
    }

    /// The URLs of the playlists with a variant's video or audio. Audio in a group replaces the variant's own.
    private func resources(of variant: VariantStream, _ kind: MediaKind) -> [String] {
        let group = kind == .video ? variant.video : variant.audio
        let renditions = group.map { playlist.renditions(kind == .video ? .video : .audio, groupID: $0) } ?? []
        var uris = renditions.compactMap(\.uri)
        if renditions.isEmpty || renditions.contains(where: { $0.uri == nil }) { uris.append(variant.uri) }
        return uris.compactMap { playlist.resolve($0) }
    }

    /// A codec that stands for those that names do not tell apart.
    private static func family(_ codec: MediaCodec) -> MediaCodec {
        switch codec {
        case .aacLATM, .xheAAC: .aac
        case .mp2: .mp3
        default: codec
        }
    }
}
