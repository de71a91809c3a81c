import HLSPlaylist

/// URLs that run out in the middle of a stream: the program is asked for a fresh one, and what is still to be loaded comes
/// from there. Buffer and position stay.
///
/// See D06 in docs/behaviour/features.md.
extension PlaybackEngine {
    /// Lets what failed wait for a fresh URL. False where the URL has not run out, or a fresh one did not help.
    mutating func waitForFreshURL(after error: LoadingError, of context: RequestUnderWay, _ id: RequestID) -> Bool {
        guard configuration.refreshesURLs, let item, item.error == nil, item.pendingFailure == nil,
            let status = error.status
        else { return false }
        let verdict = item.refresh.verdict(on: error, began: context.began, isFirst: context.purpose == .firstPlaylist)
        guard verdict != .stands else { return false }
        putOff(context.purpose, id)
        guard verdict == .asks else { return true }
        let hasOpened = item.multivariant != nil || !item.lanes.isEmpty
        var cause = PlayerError(error, isFirst: !hasOpened)
        cause.code = .notFound
        if case .resource(let resource, _) = context.purpose, resource.kind == .key { cause.code = .contentKey }
        self.item?.refresh.ask(because: cause)
        effects.append(.publish(.recoverableError(cause)))
        effects.append(.refreshURL(ExpiredURL(itemURL: item.url, url: error.url, status: status)))
        return true
    }

    /// Takes back what was asked for, so that it is asked for again from the playlist to come.
    private mutating func putOff(_ purpose: RequestPurpose, _ id: RequestID) {
        switch purpose {
        case .firstPlaylist: break
        case .mediaPlaylist(let lane):
            item?.lanes[lane]?.playlist.forgetRequest()
            park(lane)
        case .segment(let segment, _):
            goBack(to: segment)
            park(segment.lane)
        case .head(let segment): effects.append(.endHead(segment))
        case .resource(let resource, let lane):
            for other in Set([lane] + (item?.resources.lanes(sharing: id, of: resource) ?? [])).sorted(by: { $0.rawValue < $1.rawValue }) {
                item?.resources.forget(resource, in: other)
                guard let user = item?.lanes[other]?.segments.first(needing: resource) else { continue }
                goBack(to: user.id)
                park(other)
            }
        }
    }

    /// A lane whose playlist leads nowhere any more loads nothing until another one is there.
    ///
    /// - Parameter leavesFresh: the list that came after the fresh URL leads somewhere.
    private mutating func park(_ id: LaneID, leavesFresh: Bool = true) {
        guard let tracker = item?.lanes[id]?.tracker else { return }
        if leavesFresh, item?.refresh.isFresh(tracker.lastLoadBegan) == true { return }
        item?.previousTracker = tracker
        item?.lanes[id]?.park()
        effects.append(.disarm(.reload(id)))
    }

    /// The program has answered.
    mutating func takeFreshURL(_ result: Result<String, LoadingError>) {
        guard item?.refresh.isUnderWay == true, item?.error == nil else { return }
        switch result {
        case .success(let url):
            item?.url = url
            let now = now
            item?.refresh.renew(at: now)
            requestFirstPlaylist()
        case .failure(let error):
            var final = item?.refresh.refuse() ?? PlayerError(error, isFirst: false)
            final.detail = (final.detail.map { "\($0); " } ?? "") + "no fresh URL: \(error.text)"
            failWhenPlayed(final)
        }
    }

    /// Goes on from the playlist at the fresh URL.
    mutating func goOn(from loaded: LoadedPlaylist, began: Duration) {
        item?.refresh.end()
        item?.knownPlaylists.forget()
        if item?.multivariant == nil, item?.lanes.isEmpty == true { return open(loaded, began: began) }
        switch (loaded.playlist, item?.multivariant) {
        case (.media(let playlist), nil):
            guard item?.lanes[.main] != nil else { return }
            let url = item?.url ?? loaded.url
            park(.main, leavesFresh: false)
            item?.lanes[.main]?.playlist.renew(url, requestBegan: began)
            attach(playlist, url: loaded.url, to: .main)
        case (.multivariant(let playlist), let old?):
            guard let index = item?.variantIndex, playlist.variants.map(\.bandwidth) == old.variants.map(\.bandwidth)
            else { return failWhenPlayed(otherStream(loaded.url)) }
            item?.multivariant = playlist
            item?.multivariantURL = loaded.url
            item?.variants.renew(VariantCandidate.list(of: playlist), base: loaded.url)
            if item?.trick != nil { return renewTrickPlay() }
            // Every lane takes its list from the fresh URL, also where that is named as it was.
            var parked: [(LaneID, PlaylistTracker)] = []
            for id in LaneID.allCases {
                park(id, leavesFresh: false)
                if let tracker = item?.lanes[id]?.playlist.parked { parked.append((id, tracker)) }
                item?.lanes[id]?.playlist.renew("")
            }
            let variant = playlist.variants[index]
            guard let url = mainURL(of: variant, in: playlist, base: loaded.url) else {
                return failVariant(index, because: "its URI cannot be resolved")
            }
            redirect(.main, to: url)
            chooseRenditions(for: variant, of: playlist, base: loaded.url)
            for (id, tracker) in parked where item?.lanes[id]?.tracker == nil {
                item?.lanes[id]?.playlist.park(tracker)
            }
        case (.media, _?), (.multivariant, nil): failWhenPlayed(otherStream(loaded.url))
        }
    }

    private func otherStream(_ url: String) -> PlayerError {
        PlayerError(code: .badPlaylist, url: url, cause: "the fresh URL belongs to another stream")
    }
}
