import HLSGetKit
import HLSKitCore
import HLSKitSimulation

struct LadderSource: Sendable {
    private let configuration: PlayerConfiguration

    init(configuration: PlayerConfiguration = .init()) {
        self.configuration = configuration
    }

    /// Whether `path` is a URL, or a file that begins like a playlist.
    static func isPlaylist(_ path: String) -> Bool {
        if path.contains("://") { return true }
        guard let head = try? FileBytes.read(path, atMost: 10) else { return false }
        return String(decoding: head, as: UTF8.self).contains("#EXTM3U")
    }

    func movie(at path: String) async throws(SimulationFailure) -> MovieFile {
        let url: String
        do {
            url = try InputLocation.url(of: path, in: InputLocation.workingDirectory() ?? "/")
        } catch {
            throw SimulationFailure(cause: error.description, path: path)
        }
        do {
            let loader = PlaylistLoader(urlString: url, configuration: configuration)
            switch try await loader.load() {
            case .media(let media): return try MovieFile(media)
            case .multivariant(let multivariant):
                var options = PlaylistParser.Options()
                options.importedVariables = Dictionary(
                    multivariant.definitions.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
                var media: [MediaPlaylist?] = []
                for variant in multivariant.variants.prefix(100) {
                    guard let reference = URIReference.resolve(variant.uri, against: multivariant.url),
                        case .media(let playlist) = try await loader.load(
                            reference, namedBy: multivariant.url, options)
                    else {
                        media.append(nil)
                        continue
                    }
                    media.append(playlist)
                }
                return try MovieFile(multivariant, media: media)
            }
        } catch  where error.domain == .simulation {
            throw SimulationFailure(cause: "cannot be simulated", path: path, detail: error.cause, status: .badPlaylist)
        } catch {
            if let error = error.underlyingError as? PlaylistError {
                throw SimulationFailure(
                    cause: "malformed playlist", path: path, detail: error.description, status: .badPlaylist)
            }
            guard let error = error.loadingError else {
                throw SimulationFailure(
                    cause: error.cause, path: error.urlString ?? path, detail: error.detail, status: ExitStatus(error))
            }
            let failure = LoadingFailure(error, as: .named)
            throw SimulationFailure(
                cause: failure.cause, path: error.url, detail: failure.detail, status: ExitStatus(error))
        }
    }
}
