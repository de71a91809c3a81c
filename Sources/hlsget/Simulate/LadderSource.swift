import Foundation
import HLSKitCore
import HLSKitSimulation
import Synchronization

/// Reads the playlists of a title, from files or over the network, and makes a movie of them.
struct LadderSource: Sendable {
    private let transport: any Transport

    init(transport: any Transport = SchemeTransport.shared) {
        self.transport = transport
    }

    /// A URL, or a file that begins like a playlist.
    static func isPlaylist(_ path: String) -> Bool {
        if path.contains("://") { return true }
        guard let handle = FileHandle(forReadingAtPath: path), let head = try? handle.read(upToCount: 10) else {
            return false
        }
        return String(decoding: head, as: UTF8.self).contains("#EXTM3U")
    }

    /// The movie behind a playlist.
    func movie(at path: String) async throws(SimulationFailure) -> MovieFile {
        let url: String
        do {
            url = try InputLocation.url(of: path, in: InputLocation.workingDirectory() ?? "/")
        } catch {
            throw SimulationFailure(cause: error.description, path: path)
        }
        do {
            switch try await playlist(url) {
            case (.media(let media), _): return try MovieFile(media)
            case (.multivariant(let multivariant), let base):
                let isLocal = base.hasPrefix("file:")
                var media: [MediaPlaylist?] = []
                for variant in multivariant.variants.prefix(100) {
                    guard let reference = URIReference.resolve(variant.uri, against: base),
                        isLocal || !reference.lowercased().hasPrefix("file:"),
                        case (.media(let playlist), _) = try await playlist(reference)
                    else {
                        media.append(nil)
                        continue
                    }
                    media.append(playlist)
                }
                return try MovieFile(multivariant, media: media)
            }
        } catch let error as MovieFileError {
            throw SimulationFailure(cause: "cannot be simulated", path: path, detail: error.text, status: .badPlaylist)
        } catch let error as PlaylistError {
            throw SimulationFailure(
                cause: "malformed playlist", path: path, detail: error.description, status: .badPlaylist)
        } catch let error as LoadingError {
            throw SimulationFailure(
                cause: "cannot be loaded", path: path, detail: "\(error)", status: ExitStatus(error))
        } catch {
            throw SimulationFailure(cause: "cannot be loaded", path: path, detail: "\(error)", status: .network)
        }
    }

    /// A playlist and the URL that answered.
    private func playlist(_ url: String) async throws -> (Playlist, String) {
        let (bytes, answered) = try await load(url)
        return (try Playlist(parsing: bytes, url: answered), answered)
    }

    private func load(_ url: String) async throws -> ([UInt8], String) {
        let request = TransportRequest(url: url, resourceClass: .multivariantPlaylist, maximumByteCount: 32 << 20)
        let body = Mutex<(bytes: [UInt8], url: String)>(([], url))
        return try await withCheckedThrowingContinuation { continuation in
            _ = transport.start(request) { event in
                switch event {
                case .response(let response): body.withLock { $0.url = response.url.isEmpty ? url : response.url }
                case .data(let bytes): body.withLock { $0.bytes += bytes }
                case .finished: continuation.resume(returning: body.withLock { ($0.bytes, $0.url) })
                case .failed(let error, _): continuation.resume(throwing: error)
                }
            }
        }
    }
}
