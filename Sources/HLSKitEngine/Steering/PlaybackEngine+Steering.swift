import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

extension PlaybackEngine {
    // MARK: Asking

    /// Begins to follow the steering server of a playlist. A manifest inside the playlist applies at once.
    ///
    /// - Returns: The playlist with clones.
    mutating func openSteering(of playlist: MultivariantPlaylist) -> MultivariantPlaylist {
        guard let tag = playlist.contentSteering, let base = item?.multivariantURL else { return playlist }
        var steering = ItemState.ItemSteering(tag, of: playlist, base: base)
        var cloned: MultivariantPlaylist?
        if let text = steering.monitor.inlineText {
            switch Self.inlineManifest(text) {
            case .success(let manifest):
                cloned = steering.take(manifest, base: base)
                arm(steering.monitor.take(manifest, from: nil, at: now))
            case .failure(let error): report(steering.monitor.fail(error.description, at: now), error.description)
            }
        }
        item?.steering = steering
        guard let cloned else { return playlist }
        item?.multivariant = cloned
        return cloned
    }

    private static func inlineManifest(_ text: String) -> Result<SteeringManifest, SteeringManifest.Invalid> {
        guard let url = try? DataURL(text, maximumByteCount: SteeringManifest.maximumByteCount) else {
            return .failure(SteeringManifest.Invalid(description: "not a data: URL"))
        }
        return SteeringManifest.read(url.bytes)
    }

    /// Sends the first request, unless the playlist contains the manifest itself.
    mutating func beginSteering() {
        guard let steering = item?.steering, steering.manifest == nil else { return }
        askForSteering()
    }

    /// Requests the manifest in parallel with all other loading. An item that loads nothing postpones the request.
    mutating func askForSteering() {
        guard let item, item.error == nil, let steering = item.steering else { return }
        guard !item.isIdle, !item.isComplete, !item.isClosed, item.pendingFailure == nil else {
            return arm(steering.monitor.later(than: now))
        }
        let throughput = loading.estimatedBitsPerSecond(at: now)
        guard loading.requests.ids(where: { $0 == .steering }).isEmpty,
            let url = steering.monitor.request(pathway: pathway, throughput: throughput)
        else { return }
        send(RequestOrder(steering: url, namedBy: item.multivariantURL))
    }

    private mutating func arm(_ time: Duration?) {
        if let time { effects.append(.arm(.steering, at: time)) }
    }

    // MARK: Responses

    mutating func takeSteering(
        _ id: RequestID, _ result: Result<SteeringManifest, SteeringManifest.Invalid>, url: String,
        _ metrics: TransferMetrics
    ) {
        guard let context = loading.end(id, at: now), var steering = item?.steering else { return }
        loading.note(metrics, of: context)
        let now = now
        switch result {
        case .success(let manifest):
            let base = item?.multivariantURL ?? ""
            let cloned = steering.take(manifest, base: base)
            arm(steering.monitor.take(manifest, from: url, at: now))
            item?.steering = steering
            if let cloned {
                item?.multivariant = cloned
                item?.variants.renew(AssetVariant.list(of: cloned), base: base)
            }
            followSteering()
        case .failure(let error):
            let failure = steering.monitor.fail(error.description, at: now)
            item?.steering = steering
            report(failure, error.description)
        }
    }

    mutating func failSteering(_ error: LoadingError) {
        guard var steering = item?.steering else { return }
        let failure = steering.monitor.fail(
            error.text, status: error.status, retryAfter: error.retryAfter, at: now)
        item?.steering = steering
        report(failure, error.text)
    }

    /// Reports a failure. The last manifest, if any, stays in effect.
    private mutating func report(_ failure: SteeringMonitor.Failure, _ text: String) {
        arm(failure.next)
        guard failure.isNews else { return }
        effects.append(.publish(.warning("steering manifest: \(text)")))
    }

    mutating func followSteering() {
        guard let steering = item?.steering else { return }
        item?.variants.follow(steering.priority, without: steering.clones.vanished)
        preferPathway()
    }

    /// The app uses the server's names for pathways. A changed clone has another name in the playlist.
    mutating func preferPathway() {
        let preference = preferences.preferredPathway
        let name = preference.map { item?.steering?.clones.name(of: $0) ?? $0 }
        item?.variants.prefer(name)
    }

    // MARK: Reporting

    /// The pathway in use, as the server names it. `nil` if there is only one and no content steering.
    package var pathway: String? {
        guard let pathways = item?.variants.pathways, pathways.isOn || item?.steering != nil else { return nil }
        return pathways.current.map(nameForOthers)
    }

    /// The I-frame variants of the pathway in use or, if it has none, all of them.
    func ofPathway(_ iFrameVariants: [VariantStream]) -> [VariantStream] {
        guard let pathways = item?.variants.pathways, pathways.isNamed, pathways.isOn else { return iFrameVariants }
        let own = iFrameVariants.filter { $0.pathway == pathways.current }
        return own.isEmpty ? iFrameVariants : own
    }

    private func nameForOthers(_ name: String) -> String { item?.steering?.clones.id(of: name) ?? name }

    mutating func publish(_ move: Pathways.Move) {
        effects.append(
            .publish(
                .pathwayChanged(from: nameForOthers(move.old), to: nameForOthers(move.new), reason: move.reason)))
    }
}
