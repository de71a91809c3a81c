import HLSGetKit
import HLSKitCore

struct SteeringReport: Sendable {
    struct Trouble: Error, CustomStringConvertible {
        var description: String
    }

    var url: String
    var result: Result<SteeringManifest, Trouble>

    /// Queries the server, or returns `nil` if the playlist has no content steering.
    init?(of playlist: MultivariantPlaylist, _ loader: PlaylistLoader) async {
        guard let tag = playlist.contentSteering else { return nil }
        url =
            tag.serverURI.prefix(5).lowercased() == "data:"
            ? playlist.url : playlist.resolve(tag.serverURI) ?? tag.serverURI
        do {
            guard let (manifest, url) = try await loader.steeringManifest(of: playlist) else { return nil }
            self.url = url
            result = .success(manifest)
        } catch let error as SteeringManifest.Invalid {
            result = .failure(Trouble(description: error.description))
        } catch {
            let failure = PlaylistInput.Failure(error)
            result = .failure(
                Trouble(description: [failure.cause, failure.detail].compactMap(\.self).joined(separator: ": ")))
        }
    }

    var lines: [String] {
        switch result {
        case .failure(let trouble): return ["", "STEERING", "  \(trouble)"]
        case .success(let manifest):
            var lines = ["", "STEERING", "  pathways: \(manifest.priority.joined(separator: ", "))"]
            lines.append("  again after \(Decimals.text(manifest.timeToLive / .seconds(1), places: 3)) s")
            if let uri = manifest.reloadURI { lines.append("  then at \(uri)") }
            lines += manifest.clones.map { clone in
                "  clone \(clone.id) of \(clone.baseID)" + (clone.host.map { " at \($0)" } ?? "")
            }
            return lines + manifest.issues.map { "  warning: \($0)" }
        }
    }

    var value: JSONValue {
        var object = JSONObject()
        switch result {
        case .failure(let trouble): object.add("error", trouble.description)
        case .success(let manifest):
            object.add("pathway_priority", manifest.priority.map(JSONValue.string))
            object.add("ttl", .number(manifest.timeToLive / .seconds(1)))
            object.add("reload_uri", manifest.reloadURI)
            object.add(
                "pathway_clones",
                manifest.clones.map { clone -> JSONValue in
                    var object = JSONObject()
                    object.add("id", clone.id)
                    object.add("base_id", clone.baseID)
                    object.add("host", clone.host)
                    return object.value
                })
            object.add("warnings", manifest.issues.map(JSONValue.string))
        }
        return object.value
    }
}

extension PlaylistInput {
    /// Queries the steering server of a playlist that was loaded over the network.
    func steering(of playlist: Playlist) async -> SteeringReport? {
        guard baseURL == nil, case .multivariant(let playlist) = playlist, let url = (try? url()) ?? nil,
            url.hasPrefix("http"), let loader = try? loader(of: url)
        else { return nil }
        return await SteeringReport(of: playlist, loader)
    }
}
