import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// URLs that expire during playback.
///
/// The app supplies a fresh URL, and the remaining media is loaded from there. The buffer and the position do not
/// change.
extension PlaybackEngine {
    /// Defers a failed request until there is a fresh URL. Returns `false` if the URL has not expired, or if a fresh
    /// one did not help.
    mutating func waitForFreshURL(after error: LoadingError, of context: InFlightRequest, _ id: RequestID) -> Bool {
        guard configuration.refreshesURLs, let item, item.error == nil, item.pendingFailure == nil,
            let status = error.status
        else { return false }
        let verdict = item.refresh.verdict(on: error, began: context.began, isFirst: context.purpose == .firstPlaylist)
        guard verdict != .stands else { return false }
        putOff(context.purpose, id)
        guard verdict == .asks else { return true }
        let cause = URLRefresh.cause(of: error, for: context.purpose, hasOpened: item.hasOpened)
        self.item?.refresh.ask(because: cause)
        effects.append(.publish(.recoverableError(cause)))
        effects.append(.refreshURL(ExpiredURL(itemURL: item.url, url: error.url, status: status)))
        return true
    }

    /// Withdraws a request, so that it is made again from the next playlist.
    private mutating func putOff(_ purpose: RequestPurpose, _ id: RequestID) {
        switch purpose {
        case .firstPlaylist, .hint, .steering, .assetList: break
        case .mediaPlaylist(let lane):
            item?.lanes[lane]?.playlist.refuse()
            park(lane)
        case .segment(let segment, _):
            goBack(to: segment)
            park(segment.lane)
        case .head(let segment): effects.append(.endHead(segment))
        case .resource(let resource, let lane):
            for other in item?.resources.lanes(sharing: id, of: resource, and: lane) ?? [] {
                item?.resources.forget(resource, in: other)
                guard let user = item?.lanes[other]?.segments.first(needing: resource) else { continue }
                goBack(to: user.id)
                park(other)
            }
        }
    }

    /// Stops loading in a lane whose playlist no longer works, until a new playlist is available.
    ///
    /// - Parameter leavesFresh: Whether to ignore lanes whose playlist was loaded after the URL was refreshed.
    private mutating func park(_ id: LaneID, leavesFresh: Bool = true) {
        guard let tracker = item?.lanes[id]?.tracker else { return }
        if leavesFresh, item?.refresh.isFresh(tracker.lastLoadBegan) == true { return }
        item?.lanes[id]?.park()
        effects.append(.disarm(.reload(id)))
    }

    mutating func takeFreshURL(_ result: Result<String, LoadingError>) {
        guard item?.refresh.isUnderWay == true, item?.failure.isOver == false else { return }
        switch result {
        case .success(let url):
            item?.url = url
            let now = now
            item?.refresh.renew(at: now)
            requestFirstPlaylist()
        case .failure(let error):
            item?.refresh.refuse(because: error)
            checkRefusal()
        }
    }

    /// Ends lanes if there is no fresh URL, once all earlier requests have succeeded or failed.
    mutating func checkRefusal() {
        guard let refusal = item?.refresh.refusal, item?.failure.isOver == false else { return }
        if item?.lanes[.main] == nil { return failWhenPlayed(refusal) }
        for id in LaneID.allCases where item?.lanes[id]?.isAtEndOfURL == true { failLane(id, refusal) }
    }

    mutating func resume(from loaded: LoadedPlaylist, began: Duration) {
        item?.refresh.end()
        item?.knownPlaylists.forget()
        let fresh = URLRefresh.FreshPlaylist(
            loaded, after: item?.steering?.written ?? item?.multivariant, hasOpened: item?.hasOpened == true,
            hasVariant: item?.variantIndex != nil
        )
        switch fresh {
        case .first: open(loaded, began: began)
        case .media(let playlist):
            guard item?.lanes[.main] != nil else { return }
            let url = item?.url ?? loaded.url
            park(.main, leavesFresh: false)
            item?.lanes[.main]?.playlist.renew(url, requestBegan: began)
            attach(playlist, url: loaded.url, to: .main)
        case .multivariant(let playlist): resume(from: playlist, at: loaded.url)
        case .otherStream(let error): failWhenPlayed(error)
        }
    }

    // MARK: Edges

    /// Requests the item's URL again if the server it led to fails. It may lead to another server now.
    mutating func askForOtherEdge(after error: LoadingError, of context: InFlightRequest) {
        guard let item, item.error == nil, item.pendingFailure == nil, item.refresh.refusal == nil,
            !item.refresh.isUnderWay, let role = context.purpose.role, loading.failures.failureCount(of: role) > 0,
            item.wayBack.mayAsk(item.url, insteadOf: item.multivariantURL, after: error, of: context, at: now)
        else { return }
        let (id, now) = (send(RequestOrder(firstPlaylist: item.url, namedBy: item.owner)), now)
        self.item?.wayBack.ask(id, at: now)
    }

    /// Called when the item's URL has responded again. The response is used only if it leads to another server.
    mutating func resume(atOtherEdge result: Result<LoadedPlaylist, PlaylistFailure>, _ context: InFlightRequest) {
        guard case .success(let loaded) = result, let item, loaded.url != item.multivariantURL,
            !item.refresh.isUnderWay,
            case .multivariant(let playlist) = URLRefresh.FreshPlaylist(
                loaded, after: item.steering?.written ?? item.multivariant, hasOpened: item.hasOpened,
                hasVariant: item.variantIndex != nil)
        else { return }
        publish(loaded, context)
        effects.append(.publish(.warning("\(context.url): leads to \(loaded.url) now")))
        self.item?.knownPlaylists.forget()
        for id in LaneID.allCases {
            if let failed = self.item?.lanes[id]?.segments.first(where: { $0.request == nil && !$0.isLoaded }) {
                goBack(to: failed.id)
            }
            loading.forget(.mediaPlaylist(id))
            effects.append(.disarm(.retry(.mediaPlaylist(id))))
        }
        resume(from: playlist, at: loaded.url)
    }

    /// Loads every lane's playlist from the fresh URL, even if its name has not changed.
    private mutating func resume(from written: MultivariantPlaylist, at base: String) {
        guard let index = item?.variantIndex else { return }
        let playlist = item?.steering?.renew(written, base: base) ?? written
        item?.multivariant = playlist
        item?.multivariantURL = base
        item?.variants.renew(AssetVariant.list(of: playlist), base: base)
        if item?.trick != nil { return renewTrickPlay() }
        var parked: [(LaneID, PlaylistTracker)] = []
        for id in LaneID.allCases {
            park(id, leavesFresh: false)
            if let tracker = item?.lanes[id]?.playlist.parked { parked.append((id, tracker)) }
            item?.lanes[id]?.playlist.renew("")
        }
        guard playlist.variants.indices.contains(index) else { return }
        let variant = playlist.variants[index]
        guard let url = mainURL(of: variant, in: playlist, base: base) else {
            return failVariant(index, because: "its URI cannot be resolved")
        }
        redirect(.main, to: url)
        chooseRenditions(for: variant, of: playlist, base: base)
        for (id, tracker) in parked where item?.lanes[id]?.tracker == nil {
            item?.lanes[id]?.playlist.park(tracker)
        }
    }
}
