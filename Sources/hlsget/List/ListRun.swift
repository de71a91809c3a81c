import HLSGetKit
import HLSKitCore

struct ListRun {
    /// The maximum number of variants whose media playlists are loaded.
    private static let maximumVariantCount = 100
    private static let maximumRequestCount = 4

    private let options: PlayOptions
    private let isJSON: Bool
    private let saying: VerbosityOptions?

    init(_ options: PlayOptions, json: Bool, saying: VerbosityOptions? = nil) {
        self.options = options
        isJSON = json
        self.saying = saying
    }

    func run() async -> ExitStatus {
        let interruption = Interruption()
        do {
            let list = try await interruption.cancelling { try await load() }
            if isJSON {
                StandardStream.output.writeLine(list.document.text)
            } else {
                StandardStream.output.write(list.text)
            }
            return .done
        } catch let interrupted as Interruption.Interrupted {
            return .interrupted(signal: interrupted.signal)
        } catch {
            if let list = try? await ChannelList.load(options) {
                StandardStream.output.write(isJSON ? list.document.text + "\n" : list.text)
                return .done
            }
            let failure = PlaylistInput.Failure(error)
            if isJSON { StandardStream.output.writeLine(PlaylistJSON.document(failure, name: options.url).text) }
            StandardStream.error.writeLine(failure.text(for: options.url))
            return failure.status
        }
    }

    private func load() async throws -> StreamList {
        let loader = try options.loader { saying?.wrap($0) ?? $0 }
        let playlist: Playlist
        do {
            playlist = try await loader.load()
        } catch {
            // A media file has one variant and needs no list.
            guard PlaylistInput.Failure(error).isOfOtherKind else { throw error }
            let assetOptions = try options.assetOptions { saying?.wrap($0) ?? $0 }
            guard let report = try await MediaFileReport.load(options.url, assetOptions) else { throw error }
            return StreamList(url: options.url, file: report)
        }
        switch playlist {
        case .media(let media):
            let assetOptions = try options.assetOptions { saying?.wrap($0) ?? $0 }
            return StreamList(url: options.url, media: media, tracks: await SegmentTracks(of: media, assetOptions))
        case .multivariant(let multivariant):
            var list = StreamList(url: options.url, multivariant, preference: options.quality)
            list.limit(peakBitRate: options.peakBitRate, maximumResolution: options.maximumResolution)
            await look(at: &list, multivariant, loader)
            return list
        }
    }

    /// Adds the duration, and details of variants that only their media playlists contain.
    private func look(at list: inout StreamList, _ playlist: MultivariantPlaylist, _ loader: PlaylistLoader) async {
        let asset = (try? options.assetOptions { saying?.wrap($0) ?? $0 }).map {
            Asset(urlString: options.url, options: $0)
        }
        let variants = (try? await asset?.load(.variants)) ?? []
        var reasons: [Int: [String]] = [:]
        await withTaskGroup(of: (Int, [String]).self) { group in
            var rest = variants.prefix(Self.maximumVariantCount)[...]
            func begin() {
                guard let variant = rest.popFirst(), let asset else { return }
                group.addTask {
                    do throws(HLSError) {
                        return (variant.index, try await asset.ineligibilityReasons(for: variant).map(StreamList.words))
                    } catch {
                        return (
                            variant.index, [[error.cause, error.detail].compactMap(\.self).joined(separator: ": ")]
                        )
                    }
                }
            }
            for _ in 0..<Self.maximumRequestCount { begin() }
            for await (index, found) in group {
                reasons[index] = found
                begin()
            }
        }
        list.add(reasons)
        guard let index = list.measuredIndex, playlist.variants.indices.contains(index),
            let url = playlist.resolve(playlist.variants[index].uri),
            case .media(let media)? = try? await loader.load(url, namedBy: playlist.url)
        else { return }
        list.measure(media)
    }
}
